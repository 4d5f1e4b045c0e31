// Which hosts a login may visit, and where it may type secrets.
import { parse } from 'tldts'

/** Identity providers that many websites send their users to. */
export const identityProviders: readonly string[] = [
  'accounts.google.com',
  'login.microsoftonline.com',
  'login.live.com',
  '*.okta.com',
  '*.oktapreview.com',
  '*.auth0.com',
  'appleid.apple.com',
  'github.com',
  'www.facebook.com',
  'www.linkedin.com',
  '*.amazoncognito.com',
  '*.onelogin.com',
  '*.pingone.com',
  '*.pingidentity.com',
]

/** Host patterns in the format of ActOrder. */
export function allowedHosts(domain: string, allowedDomains: readonly string[]): string[] {
  return [...new Set([domain, ...allowedDomains].flatMap(patternsOf)), ...identityProviders]
}

/** Host patterns of the domain alone, where the login starts and ends. */
export function ownHosts(domain: string): string[] {
  return patternsOf(domain)
}

function patternsOf(domain: string): string[] {
  const isBelow = domain.startsWith('*.')
  const { host, port } = split(isBelow ? domain.slice(2) : domain)
  if (host === '') return []
  const {
    domain: registrable,
    isIp,
    publicSuffix,
    isIcann,
    isPrivate,
  } = parse(host, { allowPrivateDomains: true })
  const suffix = port === '' ? '' : `:${port}`
  // Subdomains of IP addresses, local names and public suffixes do not belong to the same owner.
  const isKnown = isIcann === true || isPrivate === true
  if (isIp === true || !isKnown || registrable === null || registrable === publicSuffix)
    return [`${host}${suffix}`]
  if (isBelow) return [`*.${host}${suffix}`]
  return [`${registrable}${suffix}`, `*.${registrable}${suffix}`]
}

function split(domain: string): { host: string; port: string } {
  const url = URL.parse(`http://${domain.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')}`)
  // `evil.example@bank.example` must match neither host.
  if (!url || url.username !== '' || url.password !== '') return { host: '', port: '' }
  const { port } = URL.parse(`https://${domain.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')}`) ?? { port: '' }
  return { host: url.hostname.toLowerCase(), port: url.port || port }
}

export function isOf(address: string, patterns: readonly string[]): boolean {
  const url = URL.parse(address)
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) return false
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  return patterns.some((pattern) => {
    const [, name = '', wantedPort] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(pattern) ?? []
    if (wantedPort !== undefined && wantedPort !== port) return false
    return name.startsWith('*.') ? url.hostname.endsWith(name.slice(1)) : url.hostname === name
  })
}
