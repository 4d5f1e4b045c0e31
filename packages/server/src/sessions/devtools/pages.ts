// The pages of a session's browser, as its debugging port lists them. The instance is hostile: what it says is checked
// and cut to size.
import { MAX_PAGES, MAX_PAGE_TITLE, MAX_PAGE_URL, type BrowserPage } from '@berth/contracts/devtools'
import { joinSignals } from '@berth/kit/abort'
import { AppError } from '../../platform/errors/app-error.ts'
import type { Session } from '../session/session.ts'
import { readDiscovery } from '../gateway/discovery.ts'
import { unreachable } from '../gateway/upstream.ts'

/** How long a browser has to answer. */
const TIMEOUT_MS = 10_000
const ID = /^[A-Za-z0-9-]{1,100}$/

/** Wakes the session. */
export async function readPages(session: Session, signal: AbortSignal): Promise<BrowserPage[]> {
  using acquired = new DisposableStack()
  acquired.use(session.hold())
  using time = joinSignals(signal, session.ending, AbortSignal.timeout(TIMEOUT_MS))
  try {
    return pagesOf(await readDiscovery({ session, what: 'list', signal: time.signal }))
  } catch (error) {
    signal.throwIfAborted()
    throw error instanceof AppError ? error : unreachable(session, error)
  }
}

/** Throws for a list that is none. */
export function pagesOf(text: string): BrowserPage[] {
  const list = JSON.parse(text) as unknown
  if (!Array.isArray(list)) throw new Error('The browser sent a malformed list of pages')
  return (list as unknown[]).flatMap((entry) => pageOf(entry) ?? []).slice(0, MAX_PAGES)
}

function pageOf(entry: unknown): BrowserPage | undefined {
  if (typeof entry !== 'object' || entry === null) return undefined
  const { id, type, title, url } = entry as Record<string, unknown>
  if (type !== 'page' || typeof id !== 'string' || !ID.test(id)) return undefined
  return { id, title: shown(title, MAX_PAGE_TITLE), url: shown(url, MAX_PAGE_URL) }
}

function shown(value: unknown, maxLength: number): string {
  return typeof value === 'string' ? value.slice(0, maxLength).toWellFormed() : ''
}
