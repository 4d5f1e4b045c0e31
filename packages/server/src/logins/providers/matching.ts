// Whether an item is for a domain, and where it may be typed, by the item's URLs. A similar name, or a neighbour below
// the same public suffix, does not match.
import { ownHosts } from '@berth/login/hosts/hosts'
import { getDomain } from 'tldts'
import { readDomain } from '../domain/domain.ts'

const WILDCARD = /^(https?:\/\/)?\*\./i

/** If the domain has a port, it must match. */
export function isFor(url: string, domain: string): boolean {
  const asked = readDomain(domain)
  if (asked === undefined) return false
  const base = readDomain(url.trim().replace(WILDCARD, '$1'))
  if (base === undefined) return false
  if (WILDCARD.test(url.trim())) return isBelow(asked, base)
  return asked === base || isWithWww(asked, base) || isWithWww(base, asked)
}

/**
 * Host patterns of the places where a secret for the URL may be typed: the same site (the registrable domain and its
 * subdomains, or below a wildcard) at the same port, and without TLS only if the URL does not ask for it.
 */
export function typingHosts(url: string): string[] {
  const text = url.trim()
  const isWild = WILDCARD.test(text)
  const base = readDomain(text.replace(WILDCARD, '$1'))
  if (base === undefined || (isWild && registrable(base) === null)) return []
  const hosts = ownHosts(isWild ? `*.${base}` : base)
  if (base !== withoutPort(base)) return hosts
  const ports = /^https:/i.test(text) ? [443] : [443, 80]
  return hosts.flatMap((host) => ports.map((port) => `${host}:${port}`))
}

/** Only below a domain with one owner: nobody means all of `*.com` or `*.github.io`. */
function isBelow(asked: string, base: string): boolean {
  return registrable(base) !== null && asked.endsWith(`.${base}`)
}

/** `www.example.com` equals `example.com`, but `www.github.io` belongs to somebody else. */
function isWithWww(longer: string, shorter: string): boolean {
  return longer === `www.${shorter}` && registrable(shorter) !== null
}

function registrable(host: string): string | null {
  return getDomain(withoutPort(host), { allowPrivateDomains: true })
}

const withoutPort = (host: string) => host.replace(/:\d+$/, '')
