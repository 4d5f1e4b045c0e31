// Neither message repeats the value: it is a secret, or part of one.
import { SettingError } from './setting-error.ts'
import { commaList } from './basic.ts'

export function apiKey(value: string): string | undefined {
  if (!value) return undefined
  if (!/^[\x21-\x7e]{8,200}$/.test(value)) {
    throw new SettingError('must be 8 to 200 visible ASCII characters without spaces')
  }
  return value
}

export function masterKeys(value: string): Buffer[] {
  return commaList(value).map((item) => {
    const key = Buffer.from(item, 'base64')
    if (key.length !== 32) {
      throw new SettingError('must be 32 bytes in base64 (openssl rand -base64 32)')
    }
    return key
  })
}
