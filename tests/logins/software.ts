// The description of real third-party software with a login page. It is like the description of a zoo site, but only the
// software itself can tell whether a browser is signed in, so tests ask it with the browser's cookies and storage.
import type { Page } from 'playwright-core'
import type { Owner } from '../fixtures/cleanup.ts'
import type { Person, SiteDescription } from '../fixtures/login-zoo/kit/site.ts'

/** What a browser has stored for the software's origin. */
export interface Kept {
  /** In the format of a Cookie header. */
  readonly cookies: string
  readonly local: Readonly<Record<string, string>>
}

export interface InstalledSoftware {
  /** Listens on loopback only, and ends when the owner cleans up. */
  start(owner: Owner): Promise<RunningSoftware>
}

export interface RunningSoftware {
  readonly url: string
  /** Sends a request that the software accepts only from signed-in users. */
  isSignedIn(kept: Kept): Promise<boolean>
  /** Ends the session on the server; absent if the software cannot do that. */
  signOut?(kept: Kept): Promise<void>
}

export interface Software extends Pick<
  SiteDescription,
  'name' | 'kind' | 'users' | 'variants' | 'loginPath' | 'checkPath'
> {
  /** Installs into an empty directory and creates the users. */
  install(directory: string): Promise<InstalledSoftware>
  /** Logs in with plain Playwright, from the start address until the software accepts or refuses. */
  walk(tab: Page, person: Pick<Person, 'value' | 'variant'>): Promise<void>
}
