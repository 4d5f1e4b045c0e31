// What a session carries besides its browser, such as a profile or extensions. Who keeps such things looks at what
// was asked for, and brings it into the instance before its Chromium starts.
import type { CreateBrowserRequest } from '@berth/contracts/browsers'
import type { Db } from '../../platform/database/schema.ts'
import type { Preparation } from '../../instances/instances.ts'
import type { BrowserRecord, NewBrowser } from './types.ts'

/** For one session that is being created. */
export interface Carried extends Preparation {
  /** What it was found to be, for a pool that shows it: a profile or extensions, by their ids. */
  readonly refersTo?: { readonly profileId?: string; readonly extensionIds?: readonly string[] }
  /**
   * Keeps with the session's row what is to be known of it later; in the transaction that makes the row. Resolves
   * with the row, where that is another one since.
   */
  keep?(tx: Db, browser: BrowserRecord): Promise<BrowserRecord | void>
}

/** How things are looked for. */
export interface Looking {
  /** Of the transaction, for who is in one: another connection might not be had while all are held. */
  readonly db: Db
  /** For a profile that is just being saved, so that it begins with what was saved. */
  readonly waits: boolean
  /** Of whoever waits for it. */
  readonly signal?: AbortSignal | undefined
}

export interface Carrier {
  /** Undefined: not asked for. Throws for what cannot be had, by the name of its field. */
  carry(body: CreateBrowserRequest, browser: NewBrowser, looking: Looking): Promise<Carried | undefined>
}

export async function carriedBy(
  carriers: readonly Carrier[],
  body: CreateBrowserRequest,
  browser: NewBrowser,
  looking: Looking,
): Promise<Carried[]> {
  const found: Carried[] = []
  // One after another: the first that cannot be had is named.
  for (const carrier of carriers) {
    const carried = await carrier.carry(body, browser, looking)
    if (carried) found.push(carried)
  }
  return found
}
