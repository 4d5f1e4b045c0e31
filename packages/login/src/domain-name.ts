// Domains that people write into connections, as one spelling. Secrets are typed where such a name says, so it is exactly
// one host (with what is below it), never a whole registry of names, and never something that only looks like another.
import { domainToUnicode } from 'node:url'
import { parse } from 'tldts'

export type DomainReading =
  | { readonly domain: string }
  /** For people: what is wrong, and what to write instead. */
  | { readonly problem: string }

const SHAPE = /^[^\s/\\@?#%*]+$/
/** Names are read without them: with one, what is shown and what is meant are not the same. */
const UNSEEN = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/u
const ASCII = /^[\x21-\x7e]*$/
const MAX_NAME_LENGTH = 253

/** `example.com`, `intranet:8443`, `127.0.0.1:3000`, `[::1]:3000`. */
export function readDomain(text: string): DomainReading {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) {
    return { problem: 'must be a host without scheme and path, such as example.com' }
  }
  if (text.includes('@')) return { problem: 'must not have a user name: write only the host' }
  if (text.includes('*')) return { problem: 'must be one host, without a wildcard' }
  if (!SHAPE.test(text) || UNSEEN.test(text))
    return { problem: 'must be a host such as example.com, with a port at most' }
  const url = URL.parse(`http://${text}/`)
  if (!url || url.pathname !== '/' || url.username !== '') {
    return { problem: 'must be a host such as example.com, with a port at most' }
  }
  const hostname = url.hostname.replace(/\.$/, '')
  // Both are where a browser goes without being told.
  const port = url.port === '443' ? '' : url.port
  // Letters that only look like ASCII, such as wide ones, become it.
  if (!ASCII.test(text) && !hostname.includes('xn--')) {
    return { problem: `must be written in plain letters: ${hostname}` }
  }
  const wrong = problemOf(hostname, text)
  if (wrong !== undefined) return { problem: wrong }
  return { domain: port === '' ? hostname : `${hostname}:${port}` }
}

/** The same, or all that is below a domain: `*.example.com`. */
export function readAllowedDomain(text: string): DomainReading {
  if (!text.startsWith('*.')) return readDomain(text)
  const below = readDomain(text.slice(2))
  if ('problem' in below) return below
  const { isIp, domain } = parse(below.domain, { allowPrivateDomains: true })
  if (isIp || domain === null) return { problem: 'must name a domain behind the wildcard: *.example.com' }
  return { domain: `*.${below.domain}` }
}

function problemOf(hostname: string, written: string): string | undefined {
  if (hostname === '' || hostname.length > MAX_NAME_LENGTH || hostname.split('.').includes('')) {
    return 'must be a host such as example.com'
  }
  const { isIp, domain, isIcann, isPrivate } = parse(hostname, { allowPrivateDomains: true })
  if (isIp) {
    // 2130706433, 0x7f.1 and the like are addresses, too, but nobody means them well.
    const plain = written.replace(/:\d+$/, '')
    return plain.toLowerCase() === hostname ? undefined : `must be written as the address it is: ${hostname}`
  }
  if (domain === null && (isIcann || isPrivate)) {
    return `must be a domain of its own, but everybody may have one below ${hostname}`
  }
  return hostname.split('.').some(isMixed)
    ? `must not mix alphabets in one word: it is ${hostname} and looks like another`
    : undefined
}

const scripts = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u, /\p{Script=Armenian}/u]

function isMixed(label: string): boolean {
  if (!label.startsWith('xn--')) return false
  const shown = domainToUnicode(label)
  return scripts.filter((script) => script.test(shown)).length > 1
}
