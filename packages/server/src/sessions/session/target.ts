// Parses the URLs under /browser that the gateway serves.
import { SESSION_BASE } from '@berth/contracts/control'
import type { ClientPurpose } from './client-purpose.ts'

export type Discovery = 'version' | 'list' | 'protocol'

export type Target =
  /** A websocket to Chromium as a whole, or to one of its targets by path. */
  | { readonly kind: 'websocket'; readonly purpose: 'cdp' | 'bidi'; readonly devtoolsPath?: string }
  /** A websocket of the DevTools front end to one page. The plain request for the same path gets the front end. */
  | {
      readonly kind: 'devtools'
      readonly purpose: 'devtools'
      readonly token: string
      readonly devtoolsPath: string
    }
  /** A file of the DevTools front end, which Chromium carries. */
  | {
      readonly kind: 'devtools_file'
      readonly purpose: 'devtools'
      readonly token: string
      readonly file: FrontEndFile
    }
  /** A websocket of Playwright's own protocol. */
  | { readonly kind: 'websocket'; readonly purpose: 'playwright' }
  /** A websocket to the terminal of a process. */
  | { readonly kind: 'websocket'; readonly purpose: 'terminal'; readonly processId: string }
  /** A websocket to the screen, for the page of the live view. */
  | { readonly kind: 'websocket'; readonly purpose: 'live' }
  /** Chromium's discovery over plain HTTP; clients that get an https URL start with it. */
  | { readonly kind: 'discovery'; readonly purpose: 'cdp'; readonly what: Discovery }

export const CDP_PATH = '/browser/cdp'
const BIDI_PATH = '/browser/webdriver/session'
export const PLAYWRIGHT_PATH = '/browser/playwright'
/** The page of the live view; its websocket, its files and its uploads are below. */
export const LIVE_PATH = '/browser/live'
export const SCREEN_PATH = `${LIVE_PATH}/screen`
/** In the router's syntax, for plain requests. */
export const TERMINAL_ROUTE = `${SESSION_BASE}/process/:process_id/attach`
const terminalPattern = new RegExp(`^${TERMINAL_ROUTE.replace(':process_id', '([A-Za-z0-9-]{1,100})')}$`)

/** DevTools of a session; the token follows as a segment, because relative imports drop the query. */
export const DEVTOOLS_PATH = '/browser/devtools'
const devtoolsPattern = new RegExp(`^${DEVTOOLS_PATH}/([^/]*)/(page|front_end)/(.{1,300})$`)

/** What the front end consists of. The server says the type, because the instance may lie. No HTML. */
const fileTypes = {
  js: 'text/javascript; charset=utf-8',
  mjs: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  json: 'application/json; charset=utf-8',
  svg: 'image/svg+xml; charset=utf-8',
  png: 'image/png',
  gif: 'image/gif',
  avif: 'image/avif',
  webp: 'image/webp',
  woff2: 'font/woff2',
  wasm: 'application/wasm',
} as const

export interface FrontEndFile {
  /** Inside the instance. */
  readonly path: string
  readonly type: (typeof fileTypes)[keyof typeof fileTypes]
}

/** Names that begin with a letter, digit or underscore: neither `..` nor an empty segment, and nothing encoded. */
const filePattern = /^(?:\w[\w.-]*\/)*\w[\w.-]*\.([a-z0-9]+)$/

const discoveries: Readonly<Record<string, Discovery>> = {
  '/json': 'list',
  '/json/list': 'list',
  '/json/version': 'version',
  '/json/protocol': 'protocol',
}

export const devtoolsPathPattern = /^\/devtools\/(browser|page)\/[A-Za-z0-9-]{1,100}$/

/** Undefined for paths that the gateway does not serve. Some clients add a trailing slash. */
export function targetOf(path: string): Target | undefined {
  if (path.startsWith(`${DEVTOOLS_PATH}/`)) return devtoolsTargetOf(path)
  const plain = path.endsWith('/') ? path.slice(0, -1) : path
  if (plain === CDP_PATH) return { kind: 'websocket', purpose: 'cdp' }
  if (plain === SCREEN_PATH) return { kind: 'websocket', purpose: 'live' }
  if (plain === BIDI_PATH) return { kind: 'websocket', purpose: 'bidi' }
  if (plain === PLAYWRIGHT_PATH) return { kind: 'websocket', purpose: 'playwright' }
  const [, processId] = terminalPattern.exec(plain) ?? []
  if (processId) return { kind: 'websocket', purpose: 'terminal', processId }
  if (!plain.startsWith(`${CDP_PATH}/`)) return undefined
  const rest = plain.slice(CDP_PATH.length)
  const what = Object.hasOwn(discoveries, rest) ? discoveries[rest] : undefined
  if (what) return { kind: 'discovery', purpose: 'cdp', what }
  const [, kind] = devtoolsPathPattern.exec(rest) ?? []
  // Any browser id means the one browser; its id changes when Chromium restarts.
  if (kind === 'browser') return { kind: 'websocket', purpose: 'cdp' }
  return kind === 'page' ? { kind: 'websocket', purpose: 'cdp', devtoolsPath: rest } : undefined
}

function devtoolsTargetOf(path: string): Target | undefined {
  const [, token, what, rest = ''] = devtoolsPattern.exec(path) ?? []
  if (token === undefined) return undefined
  if (what === 'page') {
    const devtoolsPath = `/devtools/page/${rest}`
    if (!devtoolsPathPattern.test(devtoolsPath)) return undefined
    return { kind: 'devtools', purpose: 'devtools', token, devtoolsPath }
  }
  const [, extension = ''] = filePattern.exec(rest) ?? []
  if (!Object.hasOwn(fileTypes, extension)) return undefined
  const type = fileTypes[extension as keyof typeof fileTypes]
  return { kind: 'devtools_file', purpose: 'devtools', token, file: { path: `/devtools/${rest}`, type } }
}

/** A read-only token only allows watching; that of a login, using the page of it while it waits for its person. */
export const liveAudiences = { control: 'live', readOnly: 'live_read_only', login: 'live_login' } as const

/** The token must have at least one of these audiences. */
export const audiencesOf: Readonly<Record<ClientPurpose, readonly string[]>> = {
  cdp: ['cdp'],
  devtools: ['devtools'],
  bidi: ['bidi'],
  playwright: ['playwright'],
  terminal: ['control'],
  live: [liveAudiences.control, liveAudiences.readOnly, liveAudiences.login],
}
