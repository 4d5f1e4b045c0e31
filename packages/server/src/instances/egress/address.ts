// Classifies an address. The result is a list, because an IPv6 address may contain an IPv4 address that
// a translator or tunnel would connect to. A policy must allow both.
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

export type Ip = ipaddr.IPv4 | ipaddr.IPv6

export interface ClassifiedAddress {
  readonly ip: Ip
  /** `unicast` is the public internet; everything else is special and has its ipaddr.js name. */
  readonly kind: string
}

const GLOBAL_UNICAST_V6 = ipaddr.IPv6.parseCIDR('2000::/3')
const V4_COMPATIBLE = ipaddr.IPv6.parseCIDR('::/96')
const V4_TRANSLATED = ipaddr.IPv6.parseCIDR('::ffff:0:0:0/96')
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96')
const SIX_TO_FOUR = ipaddr.IPv6.parseCIDR('2002::/16')
const TEREDO = ipaddr.IPv6.parseCIDR('2001::/32')

/** Reads an IPv4-mapped address as IPv4, because the kernel connects to that. Undefined if the text is not an address. */
export function parseAddress(text: string): Ip | undefined {
  // ipaddr.js alone would also accept notations that the kernel reads differently.
  const version = isIP(text)
  if (version === 0 || text.includes('%')) return undefined
  // ipaddr.js reads `::127.0.0.1`, which resolvers print, as a mapped address, but not its hexadecimal form.
  return ipaddr.process(version === 6 ? URL.parse(`http://[${text}]`)!.hostname.slice(1, -1) : text)
}

/** Returns the address itself and every IPv4 address inside it. */
export function classify(ip: Ip): ClassifiedAddress[] {
  if (!isV6(ip)) return [{ ip, kind: ip.range() }]
  const embedded = embeddedV4(ip).map((inner) => ({ ip: inner, kind: inner.range() }))
  // A NAT64 network returns such addresses for every IPv4 site, so only the inner address counts.
  if (ip.match(NAT64)) return embedded
  return [{ ip, kind: kindOfV6(ip) }, ...embedded]
}

function kindOfV6(ip: ipaddr.IPv6): string {
  const range = ip.range()
  // ipaddr.js calls everything it does not list unicast; only this block is ever assigned.
  return range === 'unicast' && !ip.match(GLOBAL_UNICAST_V6) ? 'reserved' : range
}

function embeddedV4(ip: ipaddr.IPv6): ipaddr.IPv4[] {
  const { parts } = ip
  const at = (index: number, mask = 0) => toV4(parts[index]! ^ mask, parts[index + 1]! ^ mask)
  if (ip.match(NAT64) || ip.match(V4_TRANSLATED)) return [at(6)]
  if (ip.match(SIX_TO_FOUR)) return [at(1)]
  // The relay server, and the client address with inverted bits (RFC 4380).
  if (ip.match(TEREDO)) return [at(2), at(6, 0xffff)]
  const isPlain = ip.range() === 'loopback' || ip.range() === 'unspecified'
  return ip.match(V4_COMPATIBLE) && !isPlain ? [at(6)] : []
}

function toV4(high: number, low: number): ipaddr.IPv4 {
  return new ipaddr.IPv4([high >> 8, high & 0xff, low >> 8, low & 0xff])
}

function isV6(ip: Ip): ip is ipaddr.IPv6 {
  return ip.kind() === 'ipv6'
}
