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

export function hostNames(value: string): string[] {
  for (const item of commaList(value)) {
    if (!/^[a-z0-9.-]+$/i.test(item) && isIP(item) === 0) {
      throw new SettingError(`must list host names without port, but has "${item}"`)
    }
  }
  return commaList(value).map((item) => item.toLowerCase())
}
