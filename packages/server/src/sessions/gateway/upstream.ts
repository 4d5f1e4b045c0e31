// The gateway's websocket handshake with the browser. The answer comes from inside the instance and is untrusted, so it
// is checked and limited in size and time.
import { createHash } from 'node:crypto'
import type { Duplex } from 'node:stream'
import type { LinkPurpose } from '@berth/contracts/link'
import { unlessAborted } from '@berth/kit/abort'
import { AppError } from '../../platform/errors/app-error.ts'
import { WRONG_VERSION, wrongVersion } from './playwright-version.ts'
import type { GatewaySession } from './session.ts'
import { devtoolsPathPattern, type Target } from '../session/target.ts'

const MAX_RETRIES = 3
const MAX_HEAD_BYTES = 16 * 1024
const HEAD_END = '\r\n\r\n'
/** The path of a new session in the WebDriver BiDi specification. */
const BIDI_PATH = '/session'
/** From RFC 6455. */
const ACCEPT_GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

export interface UpstreamOptions {
  readonly session: GatewaySession
  readonly target: Exclude<Target & { kind: 'websocket' | 'devtools' }, { purpose: 'live' }>
  /** Sec-WebSocket-Key of the client. */
  readonly key: string
  /** Of a Playwright client, if it says so. */
  readonly version: string | undefined
  readonly signal: AbortSignal
}

/** The browser answered, but did not open a websocket. */
class NotUpgraded extends Error {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>

  constructor(status: number, headers: ReadonlyMap<string, string>) {
    super('The browser did not open a websocket')
    this.status = status
    this.headers = headers
  }
}

/** Returns a paused stream that starts with the first frame. */
export async function openUpstream(options: UpstreamOptions): Promise<Duplex> {
  const { session, signal } = options
  try {
    return await open(options)
  } catch (error) {
    if (signal.aborted || session.ending.aborted) throw unreachable(session, error)
    if (error instanceof NotUpgraded) {
      const refusal = refusalOf(options, error)
      if (refusal) throw refusal
    }
  }
  // Chromium may have just restarted with another path. While it exits, even a fresh query may return the old path.
  for (let left = MAX_RETRIES; ; left--) {
    try {
      return await open(options, { isSecond: true })
    } catch (error) {
      if (left === 1 || signal.aborted || session.ending.aborted) throw unreachable(session, error)
    }
  }
}

/** The screen speaks no websocket; the viewer adds the framing. */
export async function openScreen(session: GatewaySession, signal: AbortSignal): Promise<Duplex> {
  try {
    const stream = await session.connect('screen', signal)
    stream.on('error', () => {})
    return stream
  } catch (error) {
    throw unreachable(session, error)
  }
}

/** Undefined when a retry may succeed. */
function refusalOf(
  { target, version }: UpstreamOptions,
  { status, headers }: NotUpgraded,
): AppError | undefined {
  if (target.purpose === 'playwright') {
    return status === WRONG_VERSION ? wrongVersion(version, headers) : undefined
  }
  if (target.purpose === 'terminal') {
    return status === 404
      ? new AppError('not_found', `Cannot find process "${target.processId}"`)
      : new AppError('bad_request', `Cannot attach to process "${target.processId}": it has no terminal`)
  }
  return target.devtoolsPath === undefined
    ? undefined
    : new AppError('not_found', 'Cannot find this page in the browser of the session')
}

export function unreachable(session: GatewaySession, cause: unknown): AppError {
  return session.ending.aborted
    ? new AppError('not_found', 'Cannot connect: the session has ended')
    : new AppError('unavailable', 'Cannot reach the browser of the session in time; try again', { cause })
}

export function acceptOf(key: string): string {
  return createHash('sha1')
    .update(key + ACCEPT_GUID)
    .digest('base64')
}

async function open(options: UpstreamOptions, { isSecond = false } = {}): Promise<Duplex> {
  const { session, target, key, signal } = options
  const path = await unlessAborted(pathOf(options, isSecond), signal)
  const stream = await session.connect(linkPurposeOf(target), signal)
  try {
    stream.on('error', () => {})
    stream.write(
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
    )
    checkHead(await readHead(stream, signal), key)
    return stream
  } catch (error) {
    stream.destroy()
    throw error
  }
}

function linkPurposeOf({ purpose }: UpstreamOptions['target']): LinkPurpose {
  if (purpose === 'terminal') return 'api'
  return purpose === 'devtools' ? 'cdp' : purpose
}

async function pathOf(
  { session, target, version = '' }: UpstreamOptions,
  isKnownWrong: boolean,
): Promise<string> {
  if (target.purpose === 'bidi') return BIDI_PATH
  if (target.purpose === 'playwright') return `/${version}`
  if (target.purpose === 'terminal') return `/control/process/${target.processId}/attach`
  const path = target.devtoolsPath ?? (await session.devtoolsPath({ isKnownWrong }))
  if (!devtoolsPathPattern.test(path)) throw new Error('The browser has an unusable DevTools path')
  return path
}

function checkHead(head: string, key: string): void {
  const [status = '', ...lines] = head.split('\r\n')
  const [, code = '0'] = /^HTTP\/1\.1 (\d{3})(?: |$)/.exec(status) ?? []
  const headers = new Map<string, string>()
  for (const line of lines) {
    const colon = line.indexOf(':')
    headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim())
  }
  if (code !== '101') throw new NotUpgraded(Number(code), headers)
  if (headers.get('upgrade')?.toLowerCase() !== 'websocket')
    throw new Error('The browser upgraded to another protocol')
  if (headers.get('sec-websocket-accept') !== acceptOf(key))
    throw new Error('The browser sent a wrong Sec-WebSocket-Accept')
  if (headers.has('sec-websocket-extensions') || headers.has('sec-websocket-protocol')) {
    throw new Error('The browser chose an extension or protocol that was not offered')
  }
}

/** Reads up to the empty line; later bytes stay in the paused stream. */
function readHead(stream: Duplex, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    let head: Buffer = Buffer.alloc(0)
    const settle = (error?: Error) => {
      stream.off('data', onData).off('end', onEnd).off('close', onEnd).off('error', settle)
      signal.removeEventListener('abort', onAbort)
      if (error) reject(error)
    }
    const onAbort = () => settle(signal.reason as Error)
    const onEnd = () => settle(new Error('The browser closed the connection'))
    const onData = (chunk: Buffer) => {
      const seen = Math.max(0, head.length - HEAD_END.length)
      head = head.length === 0 ? chunk : Buffer.concat([head, chunk])
      const end = head.indexOf(HEAD_END, seen)
      if (end === -1 ? head.length > MAX_HEAD_BYTES : end > MAX_HEAD_BYTES) {
        return settle(new Error('The response headers of the browser are too long'))
      }
      if (end === -1) return
      stream.pause()
      settle()
      const rest = head.subarray(end + HEAD_END.length)
      if (rest.length > 0) stream.unshift(rest)
      resolve(head.toString('latin1', 0, end))
    }
    stream.on('data', onData).on('end', onEnd).on('close', onEnd).on('error', settle)
    signal.addEventListener('abort', onAbort)
    if (signal.aborted) onAbort()
  })
}
