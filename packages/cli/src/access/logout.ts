import type { Context } from '../command/context.ts'
import { readContexts, writeContexts } from '../contexts/store.ts'
import { unknownContext } from '../contexts/choose.ts'

export async function run(context: Context): Promise<void> {
  const { current, contexts } = await readContexts()
  const name = (context.args[0] as string | undefined) ?? context.contextName ?? current
  if (name === undefined) return context.terminal.note('There is no context; nothing was stored')
  const known = contexts[name]
  if (known === undefined) throw unknownContext(name, contexts)
  const { key, ...rest } = known
  if (key === undefined) return context.terminal.note(`The context "${name}" has no key`)
  await writeContexts({ ...(current !== undefined && { current }), contexts: { ...contexts, [name]: rest } })
  context.terminal.note(
    `Forgot the key of "${name}". It still works on the server: delete it there with "berth api-keys delete"`,
  )
}
