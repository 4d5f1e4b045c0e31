// Where a connection was going before the kernel led it to us. Node has no call for it, so a native library makes it.
import { createRequire } from 'node:module'
import type { Socket } from 'node:net'
import { textOfIpv6 } from '@berth/codecs/netlink/packet-queue'
import { descriptorOf } from '@berth/kit/descriptor-of'

/** SO_ORIGINAL_DST, and its name for IPv6. */
const ORIGINAL_DESTINATION = 80
/** The level of the option, and the struct that it returns: family, port, and the address behind them. */
const families = {
  IPv4: { level: 0, bytes: 16, read: (bytes: Buffer) => bytes.subarray(4, 8).join('.') },
  IPv6: { level: 41, bytes: 28, read: (bytes: Buffer) => textOfIpv6(bytes.subarray(8, 24)) },
} as const

type GetSocketOption = (
  socket: number,
  level: number,
  name: number,
  value: Buffer,
  length: Uint32Array,
) => number

let getSocketOption: GetSocketOption | undefined

/** Undefined for a connection that somebody opened to us. */
export function originalDestination(socket: Socket): { address: string; port: number } | undefined {
  const fd = descriptorOf(socket)
  if (fd === undefined) return undefined
  // Also of an IPv4 connection on a socket for both, which has an address such as ::ffff:127.0.0.1.
  const isIpv4 = socket.remoteFamily === 'IPv4' || socket.remoteAddress?.startsWith('::ffff:')
  const { level, bytes, read } = families[isIpv4 ? 'IPv4' : 'IPv6']
  const value = Buffer.alloc(bytes)
  getSocketOption ??= load()
  if (getSocketOption(fd, level, ORIGINAL_DESTINATION, value, Uint32Array.of(bytes)) !== 0) return undefined
  return { address: read(value), port: value.readUInt16BE(2) }
}

// Loaded on first use, so that a server without instances starts without it.
function load(): GetSocketOption {
  const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi')
  const libc = koffi.load('libc.so.6')
  return libc.func('int getsockopt(int, int, int, void *, uint32_t *)') as GetSocketOption
}
