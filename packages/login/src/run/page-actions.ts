// What a login can do with the browser. The server implements it through the agent of a session, tests implement it directly.
import type {
  ActOrder,
  ActResult,
  LookOrder,
  PageSnapshot,
  PasskeysOrder,
  PasskeysState,
  StorageOrder,
  StorageResult,
  Photo,
  PhotoOrder,
  VisitOrder,
} from '@berth/contracts/page-snapshot'

export interface PageActions {
  look(order: LookOrder, signal: AbortSignal): Promise<PageSnapshot>
  visit(order: VisitOrder, signal: AbortSignal): Promise<PageSnapshot>
  act(order: ActOrder, signal: AbortSignal): Promise<ActResult>
  /** A picture of the page with its fields covered. Absent where there is no browser. */
  photo?(order: PhotoOrder, signal: AbortSignal): Promise<Photo>
  /** Keeps these values out of everything that is recorded of the session. Call it before typing a value. */
  hide(values: readonly string[]): Promise<void>
  /** Adds keys that answer for the user. Returns all, with what pages have made and how often each was used. */
  passkeys(order: PasskeysOrder, signal: AbortSignal): Promise<PasskeysState>
  /** Replaces cookies and storage of some hosts. From then on, no event of the session has the text of a page. */
  store(order: StorageOrder, signal: AbortSignal): Promise<StorageResult>
}

/** What is unavailable: Chromium, which may come back; the session, which has ended; or the connection to the agent. */
export type UnavailablePart = 'browser' | 'session' | 'agent'

/** The browser is unavailable, now or for good. Page actions reject only with this error or with the signal's reason. */
export class BrowserUnavailable extends Error {
  override readonly name = 'BrowserUnavailable'
  readonly part: UnavailablePart

  constructor(part: UnavailablePart, message: string, options?: ErrorOptions) {
    super(message, options)
    this.part = part
  }
}
