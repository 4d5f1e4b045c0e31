// Whether an item is for a domain, by the addresses that it has. What merely looks alike, or belongs to a neighbour
// below the same public suffix, is not.
import { getDomain } from 'tldts'
import { readDomain } from '../domain/domain.ts'

const WILDCARD = /^(https?:\/\/)?\*\./i

/** The domain may have a port, which then has to be the same. */
export function isFor(url: string, domain: string): boolean {
  const asked = readDomain(domain)
  if (asked === undefined) return false
  const base = readDomain(url.trim().replace(WILDCARD, '$1'))
  if (base === undefined) return false
  if (WILDCARD.test(url.trim())) return isBelow(asked, base)
  return asked === base || isWithWww(asked, base) || isWithWww(base, asked)
}

/** Only below what one owner has: nobody means all of `*.com` or `*.github.io`. */
function isBelow(asked: string, base: string): boolean {
  return registrable(base) !== null && asked.endsWith(`.${base}`)
}

/** `www.example.com` is `example.com`, but `www.github.io` is somebody else's. */
function isWithWww(longer: string, shorter: string): boolean {
  return longer === `www.${shorter}` && registrable(shorter) !== null
}

function registrable(host: string): string | null {
  return getDomain(withoutPort(host), { allowPrivateDomains: true })
}

const withoutPort = (host: string) => host.replace(/:\d+$/, '')
