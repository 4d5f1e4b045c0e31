import { firstArg, type Context } from '../command/context.ts'
import { print } from '../output/print.ts'
import { commandBody } from './words.ts'

export async function run(context: Context): Promise<void> {
  const body = commandBody(context)
  const answer = await (await context.api()).call('spawnProcess', { params: { id: firstArg(context) }, body })
  await print(context.terminal, answer, { format: context.format })
}
