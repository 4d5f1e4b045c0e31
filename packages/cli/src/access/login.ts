import type { Context } from '../command/context.ts'
import { addressOf, DEFAULT_URL } from '../contexts/choose.ts'
import { contextsFile, putContext, readContexts } from '../contexts/store.ts'
import { askText, confirm } from '../output/questions.ts'
import { checkKey, readKey } from './key.ts'

export async function run(context: Context): Promise<void> {
  const { terminal, options, signal, contextName } = context
  const { contexts } = await readContexts()
  const project = options['project'] as string | undefined
  const known = contextName === undefined ? undefined : contexts[contextName]
  const given = (context.args[0] as string | undefined) ?? known?.url ?? process.env['KERNEL_BASE_URL']
  const asked =
    given ??
    (terminal.isInteractive
      ? await askText(terminal, { message: 'Address of the server', initial: DEFAULT_URL })
      : DEFAULT_URL)
  const url = addressOf(asked)
  const name = (options['name'] as string | undefined) ?? contextName ?? nameFor(url, contexts)
  if (contexts[name]?.key !== undefined && options['force'] !== true)
    await confirm(terminal, {
      question: `Replace the key of the context "${name}"?`,
      isYes: false,
      goesOnWithoutTerminal: true,
    })
  const key = await readKey(terminal, { fromStdin: options['keyStdin'] === true, url })
  await checkKey({ url, key, project: undefined, from: '' }, signal)
  const kept = project ?? (contexts[name]?.url === url ? contexts[name].project : undefined)
  await putContext(name, { url, key, ...(kept !== undefined && { project: kept }) }, { isCurrent: true })
  terminal.note(`Logged in to ${url} as context "${name}" (stored in ${contextsFile()})`)
}

/** One name for each address. */
export function nameFor(url: string, contexts: Readonly<Record<string, { readonly url: string }>>): string {
  const same = Object.entries(contexts).find(([, each]) => addressOf(each.url) === url)
  if (same) return same[0]
  const { hostname, port } = new URL(url)
  const isLocal = hostname === 'localhost' || hostname === '127.0.0.1' || hostname === '[::1]'
  const base = isLocal ? 'local' : hostname.replaceAll(/[^a-z0-9.-]/gi, '')
  if (!(base in contexts)) return base
  const numbered = `${base}-${port || 'default'}`
  return numbered in contexts ? `${numbered}-${Object.keys(contexts).length + 1}` : numbered
}
