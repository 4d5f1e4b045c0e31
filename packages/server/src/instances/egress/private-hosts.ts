// The private destinations of a session: what it reaches from this host itself instead of through its proxy. Names are
// compared as they are written and never resolved; addresses match only where a program names an address.
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { getPublicSuffix } from 'tldts'
import { AuthorityError, readAuthority } from '@berth/kit/authority'
import { parseCidr } from '@berth/kit/cidr'
import { parseAddress, type Ip } from './address.ts'
import type { Target } from './target.ts'

/** The message continues "the entry ...". */
export class PrivateHostError extends Error {}

interface Range {
  readonly ip: Ip
  readonly prefix: number
}

type Entry =
  | { readonly kind: 'host' | 'suffix'; readonly host: string; readonly port: number | undefined }
  | { readonly kind: 'range'; readonly range: Range; readonly port: number | undefined }

export const PRIVATE_RANGES = [
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  'fc00::/7',
] as const

const privateRanges: readonly Range[] = PRIVATE_RANGES.map((text) => {
  const [address, prefix] = text.split('/')
  return { ip: parseAddress(address!)!, prefix: Number(prefix) }
})
/** Only tells whether an entry has a port; readAuthority checks it. */
const WITH_PORT = /^(\[[^\]]*\]|[^:[\]]+):/
const ANY_PORT = 1

/** Without a list, private addresses are direct. An empty list makes nothing direct. */
export function newPrivateHostMatcher(list: readonly string[] | undefined): (target: Target) => boolean {
  if (!list) return ({ host }) => isPrivate(parseAddress(host))
  const entries = list.map(readPrivateHost)
  return (target) => {
    const ip = parseAddress(target.host)
    return entries.some((entry) => matches(entry, target, ip))
  }
}

/** Throws a PrivateHostError for text that may not be an entry. */
export function readPrivateHost(text: string): Entry {
  if (text.includes('://')) throw new PrivateHostError('must not have a scheme')
  if (text.includes('/')) return { kind: 'range', range: readRange(text), port: undefined }
  if (text.startsWith('*.')) return readSuffix(text.slice(2))
  if (isIP(text) === 6) throw new PrivateHostError('must have its IPv6 address in brackets')
  const { host, port } = readHost(text)
  const ip = parseAddress(host)
  if (!ip) {
    if (host === 'localhost' || host.endsWith('.localhost'))
      throw new PrivateHostError('must not be loopback')
    return { kind: 'host', host, port }
  }
  if (!isPrivate(ip)) throw new PrivateHostError(`must be in a private range (${PRIVATE_RANGES.join(', ')})`)
  return { kind: 'range', range: { ip, prefix: ip.kind() === 'ipv4' ? 32 : 128 }, port }
}

function readRange(text: string): Range {
  const cidr = parseCidr(text)
  const ip = cidr && parseAddress(cidr.address)
  if (!cidr || !ip) throw new PrivateHostError('must not have a path; a CIDR has no port and no brackets')
  if (cidr.family !== ip.kind()) throw new PrivateHostError('must be written as IPv4')
  const { prefix } = cidr
  const network = ip.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6
  const first = network.networkAddressFromCIDR(`${ip.toString()}/${prefix}`)
  if (first.toString() !== ip.toString()) {
    throw new PrivateHostError(`must name the first address of its network: ${first.toString()}/${prefix}`)
  }
  if (!privateRanges.some((range) => range.prefix <= prefix && isInside(ip, range))) {
    throw new PrivateHostError(`must be inside a private range (${PRIVATE_RANGES.join(', ')})`)
  }
  return { ip, prefix }
}

function readSuffix(text: string): Entry {
  const { host, port } = readHost(text)
  const isDomain = isIP(host) === 0 && host.includes('.')
  if (!isDomain || getPublicSuffix(host, { allowPrivateDomains: true }) === host) {
    throw new PrivateHostError(
      'must have a domain of its own behind "*.": two labels at least, and no public suffix',
    )
  }
  return { kind: 'suffix', host, port }
}

function readHost(text: string): { host: string; port: number | undefined } {
  if (text.includes('*')) throw new PrivateHostError('may have one "*.", at its beginning')
  try {
    const { host, port } = readAuthority(text, ANY_PORT)
    return { host, port: WITH_PORT.test(text) ? port : undefined }
  } catch (error) {
    if (!(error instanceof AuthorityError)) throw error
    throw new PrivateHostError('must be a host, "*." and a domain, an address or a CIDR')
  }
}

function matches(entry: Entry, { host, port }: Target, ip: Ip | undefined): boolean {
  if (entry.port !== undefined && entry.port !== port) return false
  if (entry.kind === 'range') return ip !== undefined && isInside(ip, entry.range)
  if (ip) return false
  return entry.kind === 'host' ? host === entry.host : host.endsWith(`.${entry.host}`)
}

function isPrivate(ip: Ip | undefined): boolean {
  return ip !== undefined && privateRanges.some((range) => isInside(ip, range))
}

function isInside(ip: Ip, range: Range): boolean {
  return range.ip.kind() === ip.kind() && ip.match(range.ip, range.prefix)
}
