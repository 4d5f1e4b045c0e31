// From a domain to its login page.
import type { ElementSight, PageSight } from '@berth/contracts/login-sight'
import { isOf } from '../hosts.ts'
import { readPage } from '../rules/read-page.ts'
import type { Reading } from '../rules/reading.ts'
import { LoginFailed } from './failure.ts'
import type { Browser } from './browser.ts'

/** Usual places, the likeliest first; the first is where browsers look for a page to change the password. */
const usualPaths = [
  '/.well-known/change-password',
  '/login',
  '/signin',
  '/sign-in',
  '/log-in',
  '/auth/login',
  '/users/sign_in',
  '/account/login',
  '/accounts/login/',
  '/user/login',
  '/admin',
  '/admin/login',
  '/wp-login.php',
]
const MAX_LINKS = 3
const MAX_DEPTH = 2

export interface Search {
  readonly browser: Browser
  readonly start: PageSight
  readonly hosts: readonly string[]
  /** Every page on the way, as those see it who are out. */
  readonly onPage: (sight: PageSight) => void
}

export async function findLogin(search: Search): Promise<PageSight> {
  const { browser, start, hosts } = search
  const settled = await browser.settle(start, (sight) => isLogin(sight) || hasSomething(readPage(sight)))
  const reading = readPage(settled)
  if (isLogin(settled)) return settled
  if (reading.signs.isSignedIn) return settled
  if (reading.obstacle && settled.status !== 404) return settled
  const linked = await follow(search, settled, 1)
  if (linked) return linked
  for (const path of usualPaths) {
    const address = URL.parse(path, settled.url)?.href ?? URL.parse(path, start.url)?.href
    if (!address) break
    const sight = await browser.visit(address)
    if (sight.failure === null && isOf(sight.url, hosts) && (sight.status ?? 200) < 400 && isLogin(sight))
      return sight
    if (sight.http_auth) return sight
  }
  throw new LoginFailed(
    'login_form_not_found',
    'No page with a login was found; set login_url to its address',
  )
}

/** Also one that only has other ways in. */
export function isLogin(sight: PageSight): boolean {
  const { form, choices, signs } = readPage(sight)
  if (sight.http_auth) return true
  if (signs.isSignedIn) return false
  return (
    (form !== undefined && form.kind !== 'new password') ||
    choices.some(
      ({ kind }) =>
        kind === 'sso_provider' || kind === 'sign_in_method' || kind === 'auth_method' || kind === 'account',
    )
  )
}

function hasSomething({ loginLinks, signs, obstacle }: Reading): boolean {
  return loginLinks.length > 0 || signs.isSignedIn || obstacle !== undefined
}

async function follow(search: Search, from: PageSight, depth: number): Promise<PageSight | undefined> {
  const { browser, hosts } = search
  const links = readPage(from)
    .loginLinks.filter(({ href }) => !href || href.startsWith('javascript:') || isOf(href, hosts))
    .slice(0, MAX_LINKS)
  for (const [index, link] of links.entries()) {
    const sight = await openLink(search, from, link, index > 0)
    if (!sight) continue
    const settled = await browser.settle(sight, (each) => isLogin(each))
    search.onPage(settled)
    if (isLogin(settled)) return settled
    const deeper = depth < MAX_DEPTH ? await follow(search, settled, depth + 1) : undefined
    if (deeper) return deeper
  }
  return undefined
}

async function openLink(
  { browser }: Search,
  from: PageSight,
  link: ElementSight,
  isAgain: boolean,
): Promise<PageSight | undefined> {
  if (!isAgain) {
    if (await browser.click(link)) return browser.lookAfterAct()
    const { dismiss } = readPage(from)
    if (dismiss && (await browser.click(dismiss)) && (await browser.click(link)))
      return browser.lookAfterAct()
  }
  return /^https?:/.test(link.href) ? browser.visit(link.href) : undefined
}
