import { networkInterfaces } from 'node:os'

/** The address where other servers reach this one: the setting, or else the listening address. */
export function internalAddress(listening: string, setting: URL | undefined): string {
  if (setting) return setting.origin
  const url = new URL(listening)
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = outwardAddress()
  return url.origin
}

/** The address on the first external network. */
function outwardAddress(): string {
  const found = Object.values(networkInterfaces())
    .flat()
    .find((entry) => entry?.family === 'IPv4' && !entry.internal)
  return found?.address ?? '127.0.0.1'
}
