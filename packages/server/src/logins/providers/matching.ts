// Whether an item is for a domain, by the item's URLs. A similar name, or a neighbour below the same public suffix,
// does not match.
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
