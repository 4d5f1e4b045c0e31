// Finds the login page of a domain.
import type { ElementSnapshot, PageSnapshot } from '@berth/contracts/page-snapshot'
import { isOf } from '../hosts/hosts.ts'
import { readPage } from '../rules/read-page.ts'
import type { Reading } from '../rules/reading.ts'
import { LoginFailed } from './failure.ts'
import { isSame, type Browser } from './browser.ts'

/** Common paths, most likely first. Browsers use the first one to find the page that changes a password. */
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
const MAX_ICONS = 3

export interface Search {
  readonly browser: Browser
  readonly start: PageSnapshot
  readonly hosts: readonly string[]
  /** Called with every visited page, as a signed-out user sees it. */
  readonly onPage: (snapshot: PageSnapshot) => void
}

export async function findLogin(search: Search): Promise<PageSnapshot> {
  const { browser, start, hosts } = search
  const settled = await browser.settle(
    start,
    (snapshot) => isLogin(snapshot) || hasSomething(readPage(snapshot)),
  )
  const reading = readPage(settled)
  if (isLogin(settled)) return settled
  if (reading.signs.isSignedIn) return settled
  if (reading.obstacle && settled.status !== 404) return settled
  const linked = (await follow(search, settled, 1)) ?? (await tryIcons(search, settled))
  if (linked) return linked
  for (const path of usualPaths) {
    if (browser.isLate) break
    const address = URL.parse(path, settled.url)?.href ?? URL.parse(path, start.url)?.href
    if (!address) break
    const snapshot = await browser.visit(address)
    if (
      snapshot.failure === null &&
      isOf(snapshot.url, hosts) &&
      (snapshot.status ?? 200) < 400 &&
      isLogin(snapshot)
    )
      return snapshot
    if (snapshot.http_auth) return snapshot
  }
  throw notFound(start, { isLate: browser.isLate })
}

/** What the person or the owner of the connection needs to go on. */
export function notFound(start: PageSnapshot, { isLate = false } = {}): LoginFailed {
  const title = start.frames[0]?.title ?? ''
  const page = `the first page is ${title ? `"${title.slice(0, 80)}"` : 'without a title'}${
    start.status === null ? '' : `, HTTP ${start.status}`
  }`
  const why = isLate ? 'the website took too long' : 'no visited page has a login form'
  return new LoginFailed(
    'login_form_not_found',
    `Cannot find the login page: ${why} (${page}); set login_url to its address, or log in with a person, who can show it`,
  )
}

/** Also true for a page that only offers other sign-in methods, such as SSO. */
export function isLogin(snapshot: PageSnapshot): boolean {
  const { form, choices, signs } = readPage(snapshot)
  if (snapshot.http_auth) return true
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

async function follow(search: Search, from: PageSnapshot, depth: number): Promise<PageSnapshot | undefined> {
  const { browser, hosts } = search
  const links = readPage(from)
    .loginLinks.filter(({ href }) => !href || href.startsWith('javascript:') || isOf(href, hosts))
    .slice(0, MAX_LINKS)
  for (const [index, link] of links.entries()) {
    if (browser.isLate) return undefined
    const snapshot = await openLink(search, from, link, index > 0)
    if (!snapshot) continue
    const settled = await browser.settle(snapshot, (each) => isLogin(each))
    search.onPage(settled)
    if (isLogin(settled)) return settled
    const deeper = depth < MAX_DEPTH ? await follow(search, settled, depth + 1) : undefined
    if (deeper) return deeper
  }
  return undefined
}

/** Each from a fresh page, because a click may change it. */
async function tryIcons(search: Search, from: PageSnapshot): Promise<PageSnapshot | undefined> {
  const { browser } = search
  for (let index = 0; index < MAX_ICONS && !browser.isLate; index++) {
    const page = await browser.visit(from.url)
    const icon = readPage(page).loginIcons[index]
    if (!icon) return undefined
    if (!(await browser.click(icon))) continue
    const settled = await browser.settle(await browser.lookAfterAct(), isLogin)
    if (isLogin(settled)) return settled
    // It opened a menu, or led to a page that has links.
    const further = isSame(page, settled) ? undefined : await follow(search, settled, MAX_DEPTH)
    if (further) return further
  }
  return undefined
}

async function openLink(
  { browser }: Search,
  from: PageSnapshot,
  link: ElementSnapshot,
  isAgain: boolean,
): Promise<PageSnapshot | undefined> {
  if (!isAgain) {
    if (await browser.click(link)) return browser.lookAfterAct()
    const { dismiss } = readPage(from)
    if (dismiss && (await browser.click(dismiss)) && (await browser.click(link)))
      return browser.lookAfterAct()
  }
  return /^https?:/.test(link.href) ? browser.visit(link.href) : undefined
}
