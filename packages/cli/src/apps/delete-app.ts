import { firstArg, type Context } from '../command/context.ts'
import { exitCodes } from '../basics/exit-codes.ts'
import { Failure } from '../basics/failure.ts'
import { confirm } from '../output/questions.ts'
import { progress } from '../output/progress.ts'

export async function run(context: Context): Promise<void> {
  const { terminal, options, isYes } = context
  const name = firstArg(context)
  const version = options['version'] as string | undefined
  const api = await context.api()
  const query = { app_name: name, ...(version !== undefined && { app_version: version }) }
  const found = (await api.all('listDeployments', { query })) as { id: string }[]
  if (found.length === 0)
    throw new Failure(`Cannot find deployments of the app "${name}"`, {
      exitCode: exitCodes.notFound,
      remedy: 'List apps with "berth app list"',
    })
  const count = `${found.length} deployment${found.length === 1 ? '' : 's'}`
  await confirm(terminal, { question: `Delete ${count} of the app "${name}"?`, isYes })
  const shown = await progress(terminal, `Deleting ${count}`)
  try {
    for (const { id } of found) await api.call('deleteDeployment', { params: { id } })
    shown.done(`Deleted ${count} of ${name}`)
  } catch (error) {
    shown.clear()
    throw error
  }
}
