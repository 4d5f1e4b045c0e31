import { firstArg, type Context } from '../command/context.ts'
import { exitCodes } from '../basics/exit-codes.ts'
import { Failure } from '../basics/failure.ts'
import { followLogs } from './follow-logs.ts'

export async function run(context: Context): Promise<void> {
  const { options } = context
  const since = (options['since'] as string | undefined) ?? (options['follow'] === true ? '5s' : '5m')
  const invocation = options['invocation'] as string | undefined
  if (invocation !== undefined)
    return followLogs(context, { operation: 'followInvocation', id: invocation, since })
  const name = firstArg(context)
  const version = (options['version'] as string | undefined) ?? 'latest'
  const found = await (
    await context.api()
  ).call<{ deployment: string }[]>('listApps', { query: { app_name: name, version } })
  if (found.length === 0)
    throw new Failure(`Cannot find the app "${name}" in version "${version}"`, {
      exitCode: exitCodes.notFound,
      remedy: 'List apps with "berth app list"',
    })
  await followLogs(context, { operation: 'followDeployment', id: found[0]!.deployment, since })
}
