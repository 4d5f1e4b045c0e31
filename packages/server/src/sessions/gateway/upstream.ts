// The gateway's connections to the browser, and what its clients hear when there is none.
import type { Duplex } from 'node:stream'
import type { LinkPurpose } from '@berth/contracts/link'
import { unlessAborted } from '@berth/kit/abort'
import { NotUpgraded, openWebsocket } from '../../instances/devtools/websocket-handshake.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { WRONG_VERSION, wrongVersion } from './playwright-version.ts'
import type { GatewaySession } from './session.ts'
import { devtoolsPathPattern, type Target } from '../session/target.ts'

const MAX_RETRIES = 3
/** The path of a new session in the WebDriver BiDi specification. */
const BIDI_PATH = '/session'

export interface UpstreamOptions {
  readonly session: GatewaySession
  readonly target: Exclude<Target & { kind: 'websocket' | 'devtools' }, { purpose: 'live' }>
  /** Sec-WebSocket-Key of the client. */
  readonly key: string
  /** Of a Playwright client, if it says so. */
  readonly version: string | undefined
  readonly signal: AbortSignal
}

/** Returns a paused stream that starts with the first frame. */
export async function openUpstream(options: UpstreamOptions): Promise<Duplex> {
  const { session, signal } = options
  try {
    return (await takePrepared(options)) ?? (await open(options))
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

/** Undefined unless this is the first client of a browser that was started in advance. */
async function takePrepared({ session, target, signal }: UpstreamOptions): Promise<Duplex | undefined> {
  if (target.purpose !== 'cdp' || target.devtoolsPath !== undefined) return undefined
  const taking = session.preparedClient?.()
  if (!taking) return undefined
  try {
    return await unlessAborted(taking, signal)
  } catch (error) {
    void taking.then((late) => late?.destroy()).catch(() => {})
    throw error
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

async function open(options: UpstreamOptions, { isSecond = false } = {}): Promise<Duplex> {
  const { session, target, key, signal } = options
  const path = await unlessAborted(pathOf(options, isSecond), signal)
  const stream = await session.connect(linkPurposeOf(target), signal)
  await openWebsocket(stream, { path, key, signal })
  return stream
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
