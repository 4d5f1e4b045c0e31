// What a URL under /browser asks the gateway for.
import { SESSION_BASE } from '@berth/contracts/control'
import type { ClientPurpose } from './client-purpose.ts'

export type Discovery = 'version' | 'list' | 'protocol'

export type Target =
  /** A websocket to Chromium as a whole, or to one of its targets by path. */
  | { readonly kind: 'websocket'; readonly purpose: 'cdp' | 'bidi'; readonly devtoolsPath?: string }
  /** A websocket to the terminal of a process. */
  | { readonly kind: 'websocket'; readonly purpose: 'terminal'; readonly processId: string }
  /** A websocket to the screen, for the page of the live view. */
  | { readonly kind: 'websocket'; readonly purpose: 'live' }
  /** What Chromium tells over plain HTTP; clients that are given an https URL begin with it. */
  | { readonly kind: 'discovery'; readonly purpose: 'cdp'; readonly what: Discovery }

export const CDP_PATH = '/browser/cdp'
const BIDI_PATH = '/browser/webdriver/session'
/** The page of the live view; its websocket, its files and its uploads are below. */
export const LIVE_PATH = '/browser/live'
export const SCREEN_PATH = `${LIVE_PATH}/screen`
/** As the server has it for plain requests. */
export const TERMINAL_ROUTE = `${SESSION_BASE}/process/:process_id/attach`
const terminalPattern = new RegExp(`^${TERMINAL_ROUTE.replace(':process_id', '([A-Za-z0-9-]{1,100})')}$`)

const discoveries: Readonly<Record<string, Discovery>> = {
  '/json': 'list',
  '/json/list': 'list',
  '/json/version': 'version',
  '/json/protocol': 'protocol',
}

export const devtoolsPathPattern = /^\/devtools\/(browser|page)\/[A-Za-z0-9-]{1,100}$/

/** Undefined for paths that are not the gateway's. One slash at the end is what some clients add. */
export function targetOf(path: string): Target | undefined {
  const plain = path.endsWith('/') ? path.slice(0, -1) : path
  if (plain === CDP_PATH) return { kind: 'websocket', purpose: 'cdp' }
  if (plain === SCREEN_PATH) return { kind: 'websocket', purpose: 'live' }
  if (plain === BIDI_PATH) return { kind: 'websocket', purpose: 'bidi' }
  const [, processId] = terminalPattern.exec(plain) ?? []
  if (processId) return { kind: 'websocket', purpose: 'terminal', processId }
  if (!plain.startsWith(`${CDP_PATH}/`)) return undefined
  const rest = plain.slice(CDP_PATH.length)
  const what = Object.hasOwn(discoveries, rest) ? discoveries[rest] : undefined
  if (what) return { kind: 'discovery', purpose: 'cdp', what }
  const [, kind] = devtoolsPathPattern.exec(rest) ?? []
  // Whatever browser it names, there is one; its name changes when Chromium is started again.
  if (kind === 'browser') return { kind: 'websocket', purpose: 'cdp' }
  return kind === 'page' ? { kind: 'websocket', purpose: 'cdp', devtoolsPath: rest } : undefined
}

/** Who has the second may only watch. */
export const liveAudiences = { control: 'live', readOnly: 'live_read_only' } as const

/** What the token must be good for: one of these. */
export const audiencesOf: Readonly<Record<ClientPurpose, readonly string[]>> = {
  cdp: ['cdp'],
  bidi: ['bidi'],
  terminal: ['control'],
  live: [liveAudiences.control, liveAudiences.readOnly],
}
