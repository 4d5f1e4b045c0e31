// Confirms a success: the same address, opened in a separate tab, looks different from how it looked when signed out.
import type { PageSnapshot } from '@berth/contracts/page-snapshot'
import { isOf } from '../hosts/hosts.ts'
import type { Checks } from '../run/memory.ts'
import type { Browser } from './browser.ts'
import { checksFrom, plain, summarize, type PageSummary } from '../check/page-summary.ts'

const MAX_REFERENCES = 6
/** Controls, fields and headings of a page that is there. */
const MIN_FEATURES = 4

export class Confirmation {
  readonly #browser: Browser
  readonly #own: readonly string[]
  readonly #secrets: () => readonly string[]
  /** How each address looked before anything was submitted. */
  readonly #references = new Map<string, PageSummary>()

  constructor(browser: Browser, own: readonly string[], secrets: () => readonly string[]) {
    this.#browser = browser
    this.#own = own
    this.#secrets = secrets
  }

  refer(address: string, snapshot: PageSnapshot): void {
    // Keep the first: later pages may show an additional dialog.
    if (
      this.#references.has(plain(address)) ||
      this.#references.size >= MAX_REFERENCES ||
      snapshot.failure !== null
    )
      return
    const summary = summarize(address, snapshot, this.#secrets())
    this.#references.set(plain(address), summary)
  }

  /** Undefined when nothing shows that the user is signed in. */
  async confirm(snapshot: PageSnapshot, loginUrl: string): Promise<Checks | undefined> {
    const here = summarize(snapshot.url, snapshot, this.#secrets())
    if (here.isLogin || !here.isLoaded || here.obstacle) return undefined
    for (const address of this.#addresses(snapshot.url)) {
      const found = await this.#confirmAt(address, loginUrl)
      if (found) return found
    }
    return undefined
  }

  /** Addresses that can be compared come first. */
  #addresses(url: string): string[] {
    const here = plain(url)
    const known = [...this.#references.values()]
      .filter(({ isSignedOut, isLogin }) => isSignedOut || isLogin)
      .map(({ requested }) => requested)
    const same = known.filter((address) => address === here)
    const others = known.filter((address) => address !== here && isOf(address, this.#own))
    return [...new Set([...same, here, ...others])]
  }

  /** A page that shows enough early is not loaded again. A page that is still empty looks signed in to nobody. */
  async #confirmAt(address: string, loginUrl: string): Promise<Checks | undefined> {
    const early = await this.#browser.visitAside(address, { isEarly: true })
    const summary = summarize(address, early, this.#secrets())
    const isFull = early.is_loading === false && (summary.isSignedIn || summary.features.size >= MIN_FEATURES)
    const found = isFull ? await this.#compare(address, summary, loginUrl) : undefined
    if (found || (isFull && summary.isLogin)) return found
    const quiet = await this.#browser.visitAside(address)
    return this.#compare(address, summarize(address, quiet, this.#secrets()), loginUrl)
  }

  async #compare(address: string, now: PageSummary, loginUrl: string): Promise<Checks | undefined> {
    if (!now.isLoaded || now.obstacle || now.isLogin || !isOf(now.url, this.#own)) return undefined
    if (now.status !== null && now.status >= 400) return undefined
    const before = this.#references.get(address)
    if (now.isDoubtful && !now.isSignedIn && !offersMore(now, before)) return undefined
    if (before) return hasChanged(before, now) ? checksFrom(address, now, before) : undefined
    const login =
      this.#references.get(plain(loginUrl)) ?? [...this.#references.values()].find(({ isLogin }) => isLogin)
    if (!login)
      return now.isSignedIn
        ? checksFrom(address, now, { ...now, features: new Set(['field:password']), url: plain(loginUrl) })
        : undefined
    if (now.isSignedIn) return checksFrom(address, now, login)
    return now.isSignedOut ? undefined : await this.#byLoginPage(address, now, login)
  }

  /** For a page without clear signs: most websites redirect signed-in users away from the login page, so open that. */
  async #byLoginPage(address: string, now: PageSummary, login: PageSummary): Promise<Checks | undefined> {
    const again = summarize(login.requested, await this.#browser.visitAside(login.requested), this.#secrets())
    const isRedirected = again.isLoaded && !again.isLogin && (again.url !== login.url || again.isSignedIn)
    // Websites also set cookies half-way through a login.
    const hasMore = now.cells > login.cells && !now.asksFurther
    return isRedirected || hasMore ? checksFrom(address, now, login) : undefined
  }
}

/** Nobody gets new controls by being refused. */
function offersMore(now: PageSummary, before: PageSummary | undefined): boolean {
  return [...now.features].some((feature) => feature.startsWith('control:') && !before?.features.has(feature))
}

function hasChanged(before: PageSummary, now: PageSummary): boolean {
  if (now.isSignedIn && !before.isSignedIn) return true
  if (before.isLogin && !now.isLogin) return true
  return before.isSignedOut && !now.isSignedOut
}
