import { isIP } from 'node:net'
import { parseCidr } from '@berth/kit/cidr'
import { SettingError } from './setting-error.ts'
import { commaList } from './basic.ts'

export function networks(value: string): string[] {
  for (const item of commaList(value)) {
    if (!parseCidr(item)) throw new SettingError(`must list addresses or CIDRs, but has "${item}"`)
  }
  return commaList(value)
}

export function egressAllow(value: string): string[] {
  for (const item of commaList(value)) {
    const isHostPort = /^[a-z0-9.-]+:(\d{1,5}|\*)$/i.test(item)
    if (!parseCidr(item) && !isHostPort) {
      throw new SettingError(`must list CIDRs or host:port, but has "${item}"`)
    }
  }
  return commaList(value)
}

/** For browsers, loopback is their own machine, so an entry such as localhost:3000 would open nothing. */
export function sessionEgressAllow(value: string): string[] {
  const items = egressAllow(value)
  const own = items.find((item) => /^(localhost|127\.[\d.]+):/i.test(item))
  if (own !== undefined) {
    const port = own.slice(own.lastIndexOf(':') + 1)
    throw new SettingError(
      `has "${own}", which in a session is the session's own machine; list host.berth.internal:${port} and use that name for this machine, or 127.0.0.0/8 for all of its loopback`,
    )
  }
  return items
}

/** Addresses, because a name would have to be looked up first. */
export function dnsServers(value: string): string[] {
  return commaList(value).map((item) => {
    if (isIP(item) === 6) return `[${item}]`
    const [, address = '', port = '53'] = /^(\[[^\]]+\]|[^:]+)(?::(\d{1,5}))?$/.exec(item) ?? []
    const isAddress = address.startsWith('[') ? isIP(address.slice(1, -1)) === 6 : isIP(address) === 4
    if (!isAddress || Number(port) < 1 || Number(port) > 65_535) {
      throw new SettingError(`must list addresses with or without a port, but has "${item}"`)
    }
    return item
  })
}

export function hostNames(value: string): string[] {
  for (const item of commaList(value)) {
    if (!/^[a-z0-9.-]+$/i.test(item) && isIP(item) === 0) {
      throw new SettingError(`must list host names without port, but has "${item}"`)
    }
  }
  return commaList(value).map((item) => item.toLowerCase())
}
