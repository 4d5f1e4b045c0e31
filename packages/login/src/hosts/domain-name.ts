// Normalises the domains of connections. Berth types secrets at these domains, so each must name exactly one host (and
// its subdomains), never a public suffix, and never a lookalike of another name.
import { domainToUnicode } from 'node:url'
import { parse } from 'tldts'

export type DomainReading =
  | { readonly domain: string }
  /** Human-readable: what is wrong, and what to write instead. */
  | { readonly problem: string }

const SHAPE = /^[^\s/\\@?#%*]+$/
/** Invisible characters. Browsers ignore them, so the displayed name would differ from the real one. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/u
const ASCII = /^[\x21-\x7e]*$/
const MAX_NAME_LENGTH = 253

/** `example.com`, `intranet:8443`, `127.0.0.1:3000`, `[::1]:3000`. */
export function readDomain(text: string): DomainReading {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) {
    return { problem: 'must be a host without scheme and path, such as example.com' }
  }
  if (text.includes('@')) return { problem: 'must not contain a user name; write only the host' }
  if (text.includes('*')) return { problem: 'must be one host without a wildcard' }
  if (!SHAPE.test(text) || INVISIBLE.test(text))
    return { problem: 'must be a host such as example.com, optionally with a port' }
  const url = URL.parse(`http://${text}/`)
  if (!url || url.pathname !== '/' || url.username !== '') {
    return { problem: 'must be a host such as example.com, optionally with a port' }
  }
  const hostname = url.hostname.replace(/\.$/, '')
  // Ports 80 and 443 are the defaults of browsers.
  const port = url.port === '443' ? '' : url.port
  // URL parsing turns lookalikes of ASCII letters, such as full-width letters, into ASCII.
  if (!ASCII.test(text) && !hostname.includes('xn--')) {
    return { problem: `must be written in ASCII letters: ${hostname}` }
  }
  const wrong = problemOf(hostname, text)
  if (wrong !== undefined) return { problem: wrong }
  return { domain: port === '' ? hostname : `${hostname}:${port}` }
}

/**
 * Like readDomain, for a name that includes its subdomains: a leading `*.` or `www.` is dropped, so that every spelling
 * gives the same name.
 */
export function readAllowedDomain(text: string): DomainReading {
  if (text.startsWith('*.')) {
    const below = readDomain(text.slice(2))
    if ('problem' in below) return below
    const { isIp, domain } = parse(below.domain, { allowPrivateDomains: true })
    return isIp || domain === null
      ? { problem: 'must have a registrable domain after the wildcard, such as *.example.com' }
      : below
  }
  const reading = readDomain(text)
  if ('problem' in reading || !reading.domain.startsWith('www.')) return reading
  const below = readDomain(reading.domain.slice('www.'.length))
  // In `www.github.io`, it is a name of its own.
  return 'domain' in below && below.domain.includes('.') ? below : reading
}

function problemOf(hostname: string, written: string): string | undefined {
  if (hostname === '' || hostname.length > MAX_NAME_LENGTH || hostname.split('.').includes('')) {
    return 'must be a host such as example.com'
  }
  const { isIp, domain, isIcann, isPrivate } = parse(hostname, { allowPrivateDomains: true })
  if (isIp) {
    // 2130706433 and 0x7f.1 are IP addresses too, but only attackers write them like this.
    const plain = written.replace(/:\d+$/, '')
    return plain.toLowerCase() === hostname
      ? undefined
      : `must be written as a normal IP address: ${hostname}`
  }
  if (domain === null && (isIcann || isPrivate)) {
    return `must be a registrable domain; anyone can register a name below ${hostname}`
  }
  return hostname.split('.').some(isMixed)
    ? `must not mix alphabets in one label: ${hostname} looks like another domain`
    : undefined
}

const scripts = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u, /\p{Script=Armenian}/u]

function isMixed(label: string): boolean {
  if (!label.startsWith('xn--')) return false
  const shown = domainToUnicode(label)
  return scripts.filter((script) => script.test(shown)).length > 1
}
