import { networkInterfaces } from 'node:os'

/** Where other servers reach this one: as set, or else where it listens. */
export function internalAddress(listening: string, setting: URL | undefined): string {
  if (setting) return setting.origin
  const url = new URL(listening)
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = outwardAddress()
  return url.origin
}

/** Of the first network that leads beyond this host. */
function outwardAddress(): string {
  const found = Object.values(networkInterfaces())
    .flat()
    .find((entry) => entry?.family === 'IPv4' && !entry.internal)
  return found?.address ?? '127.0.0.1'
}
