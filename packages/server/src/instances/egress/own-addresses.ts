import { networkInterfaces } from 'node:os'
import { parseAddress } from './address.ts'

/** Interfaces change, but reading them for every connection would be wasteful. */
const REMEMBER_MS = 5_000

/** The addresses of this machine's interfaces, in canonical form. */
export function newOwnAddresses(): () => ReadonlySet<string> {
  let addresses = new Set<string>()
  let readAt = Number.NEGATIVE_INFINITY
  return () => {
    if (performance.now() - readAt < REMEMBER_MS) return addresses
    readAt = performance.now()
    const entries = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
    addresses = new Set(entries.map(({ address }) => parseAddress(address)?.toString() ?? address))
    return addresses
  }
}
