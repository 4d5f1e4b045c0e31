// Serves Chromium's discovery documents to clients that get an https URL: Playwright requests json/version/ below it.
// The addresses in them work only inside the instance, so they are replaced by this server's.
import type { IncomingMessage } from 'node:http'
import { readBounded } from '@berth/kit/read-bounded'
import { getFromBrowser } from './browser-request.ts'
import type { GatewaySession } from './session.ts'
import { CDP_PATH, devtoolsPathPattern, type Discovery } from '../session/target.ts'

/** Hundreds of tabs. Anything in the instance may answer instead of Chromium, and parsing stops the server meanwhile. */
const MAX_ANSWER_BYTES = 1024 * 1024

export interface DiscoveryOptions {
  readonly session: GatewaySession
  readonly what: Discovery
  readonly token: string
  /** Where clients reach this server, such as https://berth.example. */
  readonly origin: string
  readonly signal: AbortSignal
}

export async function discover(options: DiscoveryOptions): Promise<string> {
  const { what, token, origin } = options
  const text = await readDiscovery(options)
  if (what === 'protocol') return text
  const addressOf = (path: string) => `${origin.replace(/^http/, 'ws')}${CDP_PATH}${path}?jwt=${token}`
  const content = JSON.parse(text) as unknown
  const entries = Array.isArray(content) ? (content as unknown[]) : [content]
  const shown = entries.map((entry) => withAddress(entry, addressOf))
  return JSON.stringify(what === 'list' ? shown : shown[0])
}

/** The document as the browser has it. */
export async function readDiscovery({
  session,
  what,
  signal,
}: Pick<DiscoveryOptions, 'session' | 'what' | 'signal'>): Promise<string> {
  const { answer, stream } = await getFromBrowser(session, `/json/${what}`, signal)
  try {
    const text = await readAnswer(answer)
    if (answer.statusCode !== 200) throw new Error(`The browser answered ${answer.statusCode}`)
    return text
  } finally {
    stream.destroy()
  }
}

function withAddress(entry: unknown, addressOf: (path: string) => string): object {
  if (typeof entry !== 'object' || entry === null) throw new Error('The browser sent a malformed list')
  const {
    devtoolsFrontendUrl: _unreachable,
    webSocketDebuggerUrl: inner,
    ...rest
  } = entry as Record<string, unknown>
  const path = typeof inner === 'string' ? URL.parse(inner)?.pathname : undefined
  const [, kind] = devtoolsPathPattern.exec(path ?? '') ?? []
  if (kind === undefined) return rest
  return { ...rest, webSocketDebuggerUrl: addressOf(kind === 'browser' ? '' : path!) }
}

async function readAnswer(answer: IncomingMessage): Promise<string> {
  const bytes = await readBounded(answer, {
    maxBytes: MAX_ANSWER_BYTES,
    tooLarge: () => new Error('The answer of the browser is too large'),
  })
  return bytes.toString()
}
