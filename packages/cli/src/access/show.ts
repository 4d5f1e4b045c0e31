// Which server and which key, without asking the server.
import type { Context } from '../command/context.ts'
import { chooseServer } from '../contexts/choose.ts'
import { print } from '../output/print.ts'
import { masked } from './key.ts'

export async function run({ terminal, format, contextName, options }: Context): Promise<void> {
  const { url, key, project, from } = await chooseServer({
    context: contextName,
    project: options['project'] as string | undefined,
  })
  await print(
    terminal,
    { url, key: key === undefined ? null : masked(key), project: project ?? null, from },
    { format },
  )
  if (key === undefined) terminal.note('There is no key: log in with "berth login", or set KERNEL_API_KEY')
}
