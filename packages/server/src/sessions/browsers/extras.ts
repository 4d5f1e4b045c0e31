// Extras of a session: a profile, extensions, policies, a proxy, the invocation it belongs to. Each source checks the
// request and prepares the instance before Chromium starts.
import type { CreateBrowserRequest } from '@berth/contracts/browsers'
import type { Db } from '../../platform/database/schema.ts'
import type { Preparation } from '../../instances/stock/instances.ts'
import type { BrowserRecord, NewBrowser } from './types.ts'

/** One extra for a session that is being created. */
export interface SessionExtra extends Preparation {
  /** The ids of the profile or the extensions, for a pool that shows them. */
  readonly refersTo?: { readonly profileId?: string; readonly extensionIds?: readonly string[] }
  /** Stores the extra in the transaction that inserts the session's row. Returns the row if it changed. */
  keep?(tx: Db, browser: BrowserRecord): Promise<BrowserRecord | void>
}

/** How a source looks things up. */
export interface LookUp {
  /** The open transaction, if there is one: waiting for a second connection could deadlock the pool. */
  readonly db: Db
  /** Whether to wait for a running profile save, so that the session starts with the saved version. */
  readonly waits: boolean
  /** Aborts when the caller leaves. */
  readonly signal?: AbortSignal | undefined
}

export interface ExtraSource {
  /** Undefined when the request does not contain this extra. Throws an error that names the field when it is not available. */
  extraFor(body: CreateBrowserRequest, browser: NewBrowser, lookUp: LookUp): Promise<SessionExtra | undefined>
}

export async function collectExtras(
  sources: readonly ExtraSource[],
  body: CreateBrowserRequest,
  browser: NewBrowser,
  lookUp: LookUp,
): Promise<SessionExtra[]> {
  const found: SessionExtra[] = []
  // Sequential, so that the error names the first field that fails.
  for (const source of sources) {
    const extra = await source.extraFor(body, browser, lookUp)
    if (extra) found.push(extra)
  }
  return found
}
