import { firstArg, type Context } from '../command/context.ts'
import { usage } from '../basics/failure.ts'

export async function run(context: Context): Promise<void> {
  const { input } = context
  const words = (context.args[1] as readonly string[] | undefined) ?? []
  const flagged = (input.body['keys'] as readonly string[] | undefined) ?? []
  const keys = [...new Set([...words, ...flagged])]
  if (keys.length === 0)
    throw usage('Cannot press nothing: name a key', 'For example: berth computer press-key ID Enter')
  await (
    await context.api()
  ).call('pressKey', { params: { id: firstArg(context) }, body: { ...input.body, keys } })
  context.terminal.note('Pressed')
}
