// Starts from a session of the person's own browser instead of a login. The website is opened without the session and
// with it: only a difference shows that somebody is signed in now, and it is what health checks look for later.
import type { PageSnapshot, StorageOrder } from '@berth/contracts/page-snapshot'
import { allowedHosts, isOf, ownHosts } from '../hosts/hosts.ts'
import { readPage } from '../rules/read-page.ts'
import type { Checks } from '../run/memory.ts'
import type { ImportedSession, LoginOptions, LoginOutcome } from '../run/run.ts'
import { Browser } from './browser.ts'
import { Confirmation } from './confirmation.ts'
import { isLogin } from './discovery.ts'
import { LoginFailed } from './failure.ts'
import { openHome } from './home.ts'

export async function importSession(options: LoginOptions, imported: ImportedSession): Promise<LoginOutcome> {
  return new SessionImport(options, imported).go()
}

class SessionImport {
  readonly #options: LoginOptions
  readonly #imported: ImportedSession
  readonly #browser: Browser
  readonly #own: readonly string[]
  readonly #confirmation: Confirmation
  #seenLogin: string | undefined

  constructor(options: LoginOptions, imported: ImportedSession) {
    this.#options = options
    this.#imported = imported
    this.#browser = new Browser(options.pageActions, options.signal)
    this.#own = ownHosts(options.domain)
    this.#confirmation = new Confirmation(this.#browser, this.#own, () => [])
  }

  async go(): Promise<LoginOutcome> {
    this.#options.onState({ step: 'DISCOVERING' })
    const { loginUrl } = await this.#withoutSession()
    this.#options.signal.throwIfAborted()
    const { refused } = await this.#store(this.#imported)
    // After a restart of the server, all of this begins again, with the same result.
    let seen = await this.#open(openHome(this.#browser, this.#options))
    let checks = await this.#confirm(seen, loginUrl)
    if (!checks && loginUrl !== seen.url && isOf(loginUrl, this.#own)) {
      const there = await this.#open(this.#browser.visit(loginUrl))
      checks = await this.#confirm(there, loginUrl)
      if (checks || isLogin(there)) seen = there
    }
    if (!checks) throw this.#rejected(seen, refused)
    return {
      isSuccess: true,
      postLoginUrl: seen.url,
      // Unknown, unless a page of it was seen.
      loginUrl: this.#options.loginUrl ?? this.#seenLogin ?? '',
      plan: this.#options.plan,
      checks,
      requirements: [],
      values: {},
      ssoProvider: undefined,
    }
  }

  /** How the website looks to nobody, which says later that somebody is signed in. */
  async #withoutSession(): Promise<{ loginUrl: string }> {
    await this.#store({ cookies: [], origins: [] })
    const home = await this.#open(openHome(this.#browser, this.#options))
    if (home.failure !== null) throw new LoginFailed('network_error', `Cannot load the page: ${home.failure}`)
    this.#confirmation.refer(home.url, home)
    if (isLogin(home)) this.#seenLogin = home.url
    const { loginUrl } = this.#options
    if (loginUrl === undefined) return { loginUrl: home.url }
    const login = loginUrl === home.url ? home : await this.#open(this.#browser.visit(loginUrl))
    this.#confirmation.refer(loginUrl, login)
    return { loginUrl }
  }

  #open(visit: Promise<PageSnapshot>): Promise<PageSnapshot> {
    return visit.then((snapshot) =>
      this.#browser.settle(snapshot, (each) => isLogin(each) || readPage(each).signs.isSignedIn),
    )
  }

  async #confirm(snapshot: PageSnapshot, loginUrl: string): Promise<Checks | undefined> {
    return isOf(snapshot.url, this.#own) ? this.#confirmation.confirm(snapshot, loginUrl) : undefined
  }

  #store({ cookies, origins }: ImportedSession) {
    const { domain, allowedDomains, pageActions, signal } = this.#options
    const order: StorageOrder = {
      hosts: [domain, ...allowedDomains].flatMap(ownHosts).slice(0, 200),
      origins: [
        ...new Set([
          `https://${domain}`,
          `http://${domain}`,
          ...this.#imported.origins.map(({ origin }) => origin),
        ]),
      ],
      cookies: cookies.map(
        ({ name, value, host, isHostOnly, path, isSecure, isHttpOnly, sameSite, expires }) => ({
          name,
          value,
          host,
          is_host_only: isHostOnly,
          path,
          is_secure: isSecure,
          is_http_only: isHttpOnly,
          ...(sameSite && { same_site: sameSite }),
          ...(expires !== undefined && { expires }),
        }),
      ),
      local: origins.map(({ origin, items }) => ({ origin, items: [...items] })),
    }
    return pageActions.store(order, signal)
  }

  #rejected(snapshot: PageSnapshot, refused: number): LoginFailed {
    const { failure, url } = snapshot
    if (failure !== null) return new LoginFailed('network_error', `Cannot load the page: ${failure}`)
    const { obstacle, signs } = readPage(snapshot)
    if (obstacle && obstacle.code !== 'unsupported_auth_method') {
      return new LoginFailed(obstacle.code, obstacle.message, obstacle.text)
    }
    const { domain, allowedDomains } = this.#options
    if (!isOf(url, allowedHosts(domain, allowedDomains))) {
      const host = URL.parse(url)?.host || 'another site'
      return new LoginFailed(
        'domain_not_allowed',
        `Cannot use the imported session: the website leads to ${host}; add it to allowed_domains if you trust it, and export its cookies too`,
      )
    }
    const isOut = isLogin(snapshot) || signs.isSignedOut
    const why = isOut
      ? 'the website still asks for a login'
      : 'nothing on the website shows that somebody is signed in'
    const some = refused > 0 ? ` (the browser did not take ${refused} of its entries)` : ''
    return new LoginFailed(
      'imported_session_rejected',
      `Cannot use the imported session: ${why}${some}. Export it again while you are signed in, with the cookies and storage of every site that the login uses; some websites bind a session to its browser or its address, then log in here instead`,
    )
  }
}
