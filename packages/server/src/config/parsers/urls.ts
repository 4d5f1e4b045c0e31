import { SettingError } from './setting-error.ts'
import { commaList } from './basic.ts'

/** Scheme, host and port only, because paths are added to it. */
export function publicUrl(value: string): URL | undefined {
  if (!value) return undefined
  const url = URL.parse(value)
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new SettingError(`must be an http or https URL, but is "${value}"`)
  }
  if (url.pathname !== '/' || url.search || url.hash || url.username) {
    throw new SettingError(`must be only a scheme, host and port, but is "${value}"`)
  }
  return url
}

/** For a setting that has a default, so it is never empty. */
export function requiredUrl(value: string): URL {
  return publicUrl(value)!
}

export function registryUrl(value: string): URL {
  const url = URL.parse(value)
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.search || url.hash) {
    throw new SettingError(`must be an http or https URL without user name, but is "${value}"`)
  }
  return url
}

export function webUrls(value: string): URL[] {
  return commaList(value).map((item) => {
    const url = URL.parse(item)
    if (url && /^https?:$/.test(url.protocol)) return url
    throw new SettingError(`must list http or https URLs, but has "${item}"`)
  })
}

export function origins(value: string): string[] {
  return commaList(value).map((item) => publicUrl(item)!.origin)
}

export function databaseUrl(value: string): string | undefined {
  if (!value) return undefined
  // The value may hold a password, so the message does not repeat it.
  if (!/^postgres(ql)?:\/\//.test(value)) throw new SettingError('must start with postgres://')
  return value
}
