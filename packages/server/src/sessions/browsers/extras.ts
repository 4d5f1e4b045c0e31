// What a session has besides its browser: a profile, extensions, policies, a proxy, an invocation it belongs to. Each
// source checks what was asked for, and brings it into the instance before its Chromium starts.
import type { CreateBrowserRequest } from '@berth/contracts/browsers'
import type { Db } from '../../platform/database/schema.ts'
import type { Preparation } from '../../instances/stock/instances.ts'
import type { BrowserRecord, NewBrowser } from './types.ts'

/** One such thing, for one session that is being created. */
export interface SessionExtra extends Preparation {
  /** The ids of the profile or the extensions, for a pool that shows them. */
  readonly refersTo?: { readonly profileId?: string; readonly extensionIds?: readonly string[] }
  /** Stores what must be known later, in the transaction that makes the session's row. Returns the row if it changed. */
  keep?(tx: Db, browser: BrowserRecord): Promise<BrowserRecord | void>
}

/** How a source looks things up. */
export interface LookUp {
  /** The open transaction, if there is one: waiting for a second connection could block everybody. */
  readonly db: Db
  /** Whether to wait for a profile that is being saved right now, so that the session starts with what was saved. */
  readonly waits: boolean
  /** Fires when whoever asked has left. */
  readonly signal?: AbortSignal | undefined
}

export interface ExtraSource {
  /** Undefined: not asked for. Throws an error that names the field when it cannot be had. */
  extraFor(body: CreateBrowserRequest, browser: NewBrowser, lookUp: LookUp): Promise<SessionExtra | undefined>
}

export async function collectExtras(
  sources: readonly ExtraSource[],
  body: CreateBrowserRequest,
  browser: NewBrowser,
  lookUp: LookUp,
): Promise<SessionExtra[]> {
  const found: SessionExtra[] = []
  // One after another, so that the error names the first that fails.
  for (const source of sources) {
    const extra = await source.extraFor(body, browser, lookUp)
    if (extra) found.push(extra)
  }
  return found
}
