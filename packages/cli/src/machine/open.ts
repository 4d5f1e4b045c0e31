import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Context } from '../command/context.ts'
import { chooseServer } from '../contexts/choose.ts'

export async function run({ args, options, terminal, contextName }: Context): Promise<void> {
  const { url } = await chooseServer({ context: contextName })
  const session = args[0] as string | undefined
  const address =
    session === undefined ? `${url}/` : `${url}/dashboard/sessions/${encodeURIComponent(session)}`
  if (options['print'] === true || !(await openInBrowser(address))) terminal.out.write(`${address}\n`)
  else terminal.note(`Opened ${address}`)
}

/** Whether a program took it. Without a screen there is none. */
async function openInBrowser(url: string): Promise<boolean> {
  const [command, ...args] = { darwin: ['open'], win32: ['explorer'] }[process.platform as string] ?? [
    'xdg-open',
  ]
  if (process.platform === 'linux' && !process.env['DISPLAY'] && !process.env['WAYLAND_DISPLAY']) return false
  const child = spawn(command!, [...args, url], { stdio: 'ignore', detached: true })
  try {
    await once(child, 'spawn')
    child.unref()
    return true
  } catch {
    return false
  }
}
