import { firstArg, type Context } from '../command/context.ts'
import { followLogs } from './follow-logs.ts'

export async function run(context: Context): Promise<void> {
  const since = context.options['since'] as string | undefined
  await followLogs(context, { operation: 'followDeployment', id: firstArg(context), since })
}
