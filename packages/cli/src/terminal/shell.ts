// A shell in a session: a program with a terminal of its own, and a websocket to it. No daemon, no key.
import { WebSocket } from 'ws'
import type { Api } from '../api/api.ts'
import type { Context } from '../command/context.ts'
import { exitCodes } from '../basics/exit-codes.ts'
import { ExitWith, Failure, usage } from '../basics/failure.ts'

const END_TIMEOUT_MS = 5_000
/** What the terminal of the session has not taken yet; beyond it, reading from the keyboard stops. */
const MAX_UNSENT_BYTES = 1024 * 1024
const DRAIN_MS = 20

export async function run(context: Context): Promise<void> {
  refuseSshFlags(context)
  const api = await context.api()
  const [id, words = []] = context.args as [string, (readonly string[])?]
  const session = await api.call<Session>('getBrowser', { params: { id } })
  const processId = await start(context, api, {
    id: session.session_id,
    words,
  })
  const cleanUp = () => end(api, session.session_id, processId)
  try {
    const code = await attach(context, attachUrl(session, processId))
    if (code !== 0) throw new ExitWith(code)
  } catch (error) {
    if (!(error instanceof ExitWith)) await cleanUp()
    throw error
  }
}

interface Session {
  readonly session_id: string
  readonly base_url?: string
  readonly cdp_ws_url: string
}

function refuseSshFlags({ options }: Context): void {
  const flags = { identity: '-i', localForward: '-L', remoteForward: '-R', setupOnly: '--setup-only' }
  for (const [name, flag] of Object.entries(flags)) {
    if (options[name] === undefined) continue
    throw usage(
      `Cannot use ${flag}: the shell goes over the API, and there is no SSH daemon in a session`,
      'Leave it out. Copy files with "berth browsers cp", and see docs/cli.md for what replaces forwarding',
    )
  }
}

async function start(
  { options, terminal }: Context,
  api: Api,
  { id, words }: { id: string; words: readonly string[] },
): Promise<string> {
  const shell = (options['shell'] as string | undefined) ?? 'bash'
  const answer = await api.call<{ process_id: string }>('spawnProcess', {
    params: { id },
    body: {
      command: words.length > 0 ? '/bin/bash' : shell,
      args: words.length > 0 ? ['-c', words.join(' ')] : ['-l'],
      allocate_tty: true,
      rows: terminal.out.rows || 24,
      cols: terminal.out.columns || 80,
      env: { TERM: process.env['TERM'] ?? 'xterm-256color' },
      ...(options['asRoot'] === true && { as_root: true }),
      ...(options['cwd'] !== undefined && { cwd: options['cwd'] }),
    },
  })
  return answer.process_id
}

/** Below the session's own address, with its own token. */
export function attachUrl({ base_url: base, cdp_ws_url: cdp }: Session, processId: string): string {
  if (base === undefined) throw new Failure('Cannot open a shell: the session has no base_url')
  const url = new URL(`${base.replace(/\/$/, '')}/process/${processId}/attach`)
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
  url.searchParams.set('jwt', new URL(cdp).searchParams.get('jwt') ?? '')
  return url.href
}

/** Joins the terminals until the program ends; returns its exit code. */
async function attach({ terminal, signal }: Context, url: string): Promise<number> {
  const socket = new WebSocket(url, { perMessageDeflate: false })
  const { stdin } = process
  const { out } = terminal
  const opened = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<number>()
  ended.promise.catch(() => {})
  const fail = (error: unknown) => {
    opened.reject(error)
    ended.reject(error)
  }
  const stop = () => fail(signal.reason)
  signal.addEventListener('abort', stop, { once: true })
  socket.once('open', opened.resolve)
  socket.once('error', (cause) =>
    fail(new Failure(`Cannot open a shell: ${cause.message}`, { exitCode: exitCodes.unreachable, cause })),
  )
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    if (isBinary) {
      // A slow terminal slows the program down.
      if (!out.write(data)) {
        socket.pause()
        out.once('drain', () => socket.resume())
      }
      return
    }
    const { type, exit_code: code } = JSON.parse(data.toString()) as { type?: string; exit_code?: number }
    if (type === 'exit') ended.resolve(code ?? 0)
  })
  socket.once('close', (code, reason) => {
    fail(new Failure(`The shell ended: ${reason.toString() || `the connection was closed (${code})`}`))
  })
  const send = (data: Buffer) => {
    if (socket.readyState !== WebSocket.OPEN) return
    socket.send(data)
    if (socket.bufferedAmount > MAX_UNSENT_BYTES) pauseUntilSent(socket)
  }
  const resize = () => {
    if (socket.readyState === WebSocket.OPEN && out.rows > 0)
      socket.send(JSON.stringify({ type: 'resize', rows: out.rows, cols: out.columns }))
  }
  try {
    await opened.promise
    // Every key goes to the program, Ctrl-C too.
    if (stdin.isTTY) stdin.setRawMode(true)
    stdin.on('data', send)
    // What is piped in ends like a terminal, with Ctrl-D.
    if (!stdin.isTTY) stdin.once('end', () => send(Buffer.from([4])))
    out.on('resize', resize)
    resize()
    return await ended.promise
  } finally {
    signal.removeEventListener('abort', stop)
    stdin.off('data', send)
    out.off('resize', resize)
    if (stdin.isTTY) stdin.setRawMode(false)
    stdin.pause()
    socket.terminate()
  }
}

function pauseUntilSent(socket: WebSocket): void {
  process.stdin.pause()
  const timer = setInterval(() => {
    if (socket.readyState === WebSocket.OPEN && socket.bufferedAmount > MAX_UNSENT_BYTES / 2) return
    clearInterval(timer)
    if (socket.readyState === WebSocket.OPEN) process.stdin.resume()
  }, DRAIN_MS)
}

/** Who leaves takes the program along. */
async function end(api: Api, id: string, processId: string): Promise<void> {
  await api
    .within(AbortSignal.timeout(END_TIMEOUT_MS))
    .call('killProcess', { params: { id, process_id: processId }, body: { signal: 'KILL' } })
    .catch(() => {})
}
