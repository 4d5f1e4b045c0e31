// Whether a mail is from the website and for this login, where that can be told.
import { getDomain } from 'tldts'
import { fold } from '../words/match.ts'
import type { Mail } from './mail.ts'

export interface Site {
  /** Of the connection, such as `login.example.com` or `intranet:8443`. */
  readonly domain: string
  /** Further domains of the login. */
  readonly allowedDomains: readonly string[]
  /** Only mails to this address, if it is set. */
  readonly address?: string | undefined
}

/** Websites write from domains of others, too. Then the mail must at least name the website. */
export function isFromSite(mail: Mail, { domain, allowedDomains, address }: Site): boolean {
  if (address !== undefined && mail.to.length > 0 && !mail.to.includes(address.toLowerCase())) return false
  const sites = [domain, ...allowedDomains].map((each) => siteOf(each)).filter(Boolean)
  const sender = siteOf(mail.from.split('@').at(-1) ?? '')
  if (sender !== '' && sites.includes(sender)) return true
  const names = new Set(
    sites.flatMap((site) => [site, site.split('.')[0] ?? '']).filter((name) => name.length >= 4),
  )
  const words = fold(`${mail.fromName} ${mail.subject}`)
  if ([...names].some((name) => words.includes(name))) return true
  return mail.links.some(({ href }) => sites.includes(siteOf(URL.parse(href)?.hostname ?? '')))
}

function siteOf(host: string): string {
  const name = host.replace(/:\d+$/, '').toLowerCase()
  return getDomain(name, { allowPrivateDomains: true }) ?? name
}
