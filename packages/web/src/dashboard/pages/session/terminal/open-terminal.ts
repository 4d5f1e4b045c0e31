// Joins an xterm to a program in the session.
import type { Kernel } from '@onkernel/sdk'
import { FitAddon } from '@xterm/addon-fit'
import { Terminal } from '@xterm/xterm'
import { colour, onTheme } from '../../../parts/theme.ts'
import { tokenOf, type Session } from '../session.ts'

const RESIZE_MS = 100
const MAX_SCROLLBACK = 5_000

export interface TerminalOptions {
  readonly client: Kernel
  readonly session: Session
  readonly element: HTMLElement
  /** Ends the program and takes the terminal out of the page. */
  readonly signal: AbortSignal
  readonly onOpen: () => void
  readonly onEnd: () => void
}

export async function openTerminal(options: TerminalOptions): Promise<void> {
  const { client, session, element, signal, onOpen, onEnd } = options
  const terminal = new Terminal({
    theme: themeNow(),
    fontFamily: colour('--mono'),
    fontSize: 13,
    scrollback: MAX_SCROLLBACK,
    cursorBlink: true,
    screenReaderMode: false,
  })
  const leaving: (() => void)[] = [() => terminal.dispose()]
  const leave = () => {
    for (const each of leaving.splice(0).toReversed()) each()
  }
  signal.addEventListener('abort', leave, { once: true })
  const fit = new FitAddon()
  terminal.loadAddon(fit)
  terminal.open(element)
  fit.fit()
  leaving.push(onTheme(() => (terminal.options.theme = themeNow())))

  const { process_id: id } = await client.browsers.process.spawn(session.session_id, {
    command: 'bash',
    args: ['-l'],
    allocate_tty: true,
    cols: terminal.cols,
    rows: terminal.rows,
    env: { TERM: 'xterm-256color' },
  })
  const kill = () => void end(session.session_id, id!)
  if (signal.aborted) return kill()
  leaving.push(kill)
  // A tab of the browser that is closed takes nothing down by itself.
  window.addEventListener('pagehide', kill, { signal })

  const socket = new WebSocket(urlOf(session, id!))
  socket.binaryType = 'arraybuffer'
  leaving.push(() => socket.close())
  const encoder = new TextEncoder()
  terminal.onData((data) => {
    if (socket.readyState === WebSocket.OPEN) socket.send(encoder.encode(data))
  })
  terminal.onBinary((data) => {
    if (socket.readyState === WebSocket.OPEN) {
      socket.send(Uint8Array.from(data, (character) => character.charCodeAt(0)))
    }
  })
  terminal.onResize(({ rows, cols }) => {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ type: 'resize', rows, cols }))
  })
  socket.addEventListener('open', () => {
    onOpen()
    terminal.focus()
  })
  socket.addEventListener('message', ({ data }: MessageEvent<ArrayBuffer | string>) => {
    if (typeof data !== 'string') return terminal.write(new Uint8Array(data))
    const { type, exit_code: code } = JSON.parse(data) as { type?: string; exit_code?: number }
    if (type === 'exit') terminal.write(`\r\n[ended with code ${code}]\r\n`)
  })
  socket.addEventListener('close', () => {
    if (!signal.aborted) onEnd()
  })
  leaving.push(followSize(element, fit))
}

/** The token is that of the control API, and the address our own. */
function urlOf(session: Session, processId: string): string {
  const origin = location.origin.replace(/^http/, 'ws')
  return `${origin}/browser/kernel/process/${processId}/attach?jwt=${tokenOf(session) ?? ''}`
}

/** Also works while the page is closed. */
function end(sessionId: string, processId: string): Promise<unknown> {
  return fetch(`/browsers/${sessionId}/process/${processId}/kill`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ signal: 'KILL' }),
    keepalive: true,
  }).catch(() => {})
}

function followSize(element: HTMLElement, fit: FitAddon): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const observer = new ResizeObserver(() => {
    clearTimeout(timer)
    timer = setTimeout(() => fit.fit(), RESIZE_MS)
  })
  observer.observe(element)
  return () => {
    clearTimeout(timer)
    observer.disconnect()
  }
}

const themeNow = () => ({
  background: colour('--code'),
  foreground: colour('--text'),
  cursor: colour('--accent'),
  cursorAccent: colour('--code'),
  selectionBackground: colour('--focus'),
  red: colour('--bad'),
  green: colour('--good'),
  yellow: colour('--warn'),
  blue: colour('--accent'),
  brightRed: colour('--bad'),
  brightGreen: colour('--good'),
  brightYellow: colour('--warn'),
  brightBlue: colour('--accent'),
  white: colour('--quiet'),
  brightWhite: colour('--text'),
  brightBlack: colour('--quiet'),
})
