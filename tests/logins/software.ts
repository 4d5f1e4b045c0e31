// How real third-party software with a login page is described: as the zoo's sites are, but what is true is asked of the
// software itself, with what the browser has of it.
import type { Page } from 'playwright-core'
import type { Owner } from '../fixtures/cleanup.ts'
import type { Person, SiteDescription } from '../fixtures/login-zoo/kit/site.ts'

/** What a browser keeps of the software's origin. */
export interface Kept {
  /** As a Cookie header has them. */
  readonly cookies: string
  readonly local: Readonly<Record<string, string>>
}

export interface InstalledSoftware {
  /** Loopback only; ends with the owner. */
  start(owner: Owner): Promise<RunningSoftware>
}

export interface RunningSoftware {
  readonly url: string
  /** By the software's own answer to a request that only somebody who is signed in may make. */
  isSignedIn(kept: Kept): Promise<boolean>
  /** Ends the session from the server's side; absent where the software knows no such thing. */
  signOut?(kept: Kept): Promise<void>
}

export interface Software extends Pick<
  SiteDescription,
  'name' | 'kind' | 'users' | 'variants' | 'loginPath' | 'checkPath'
> {
  /** Into an empty directory, with the users. */
  install(directory: string): Promise<InstalledSoftware>
  /** From the start address to the software's yes or no, by hand. */
  walk(tab: Page, person: Pick<Person, 'value' | 'variant'>): Promise<void>
}
