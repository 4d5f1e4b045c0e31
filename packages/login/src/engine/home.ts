// The start page of a website.
import type { PageSnapshot } from '@berth/contracts/page-snapshot'
import { isOf, ownHosts } from '../hosts/hosts.ts'
import type { Browser } from './browser.ts'

/** A website that does not answer at all. */
const SECURE_TIMEOUT_MS = 10_000

export async function openHome(
  browser: Browser,
  { domain, loginUrl }: { readonly domain: string; readonly loginUrl: string | undefined },
): Promise<PageSnapshot> {
  if (loginUrl && isOf(loginUrl, ownHosts(domain))) return browser.visit(new URL('/', loginUrl).href)
  const secure = await browser.visit(`https://${domain}/`, SECURE_TIMEOUT_MS)
  // A server without TLS may refuse the connection or not respond at all.
  const isAnswered = secure.failure === null && secure.status !== null
  return isAnswered || /NAME_NOT_RESOLVED/.test(secure.failure ?? '')
    ? secure
    : browser.visit(`http://${domain}/`)
}
