// Reads cookies.txt: a line for each cookie, with seven fields between tabs.
import type { GivenCookie } from '@berth/contracts/session-import'
import { invalidInput } from '../../platform/errors/app-error.ts'

/** How `curl` and others mark a cookie that scripts cannot read. */
const HTTP_ONLY = '#HttpOnly_'

export function readCookiesTxt(text: string, maxCookies: number): GivenCookie[] {
  const cookies: GivenCookie[] = []
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const isHttpOnly = raw.startsWith(HTTP_ONLY)
    const line = isHttpOnly ? raw.slice(HTTP_ONLY.length) : raw
    if (line.trim() === '' || (!isHttpOnly && line.startsWith('#'))) continue
    const refuse = (why: string) => invalidInput('cookies_txt', `line ${index + 1} ${why}`)
    const [domain = '', subdomains = '', path = '', secure = '', expires = '', name = '', ...value] =
      line.split('\t')
    if (value.length !== 1) throw refuse(`must have 7 fields between tabs, it has ${line.split('\t').length}`)
    if (domain === '') throw refuse('has no domain')
    if (!/^\d{1,15}$/.test(expires)) throw refuse('must have seconds since 1970 as its fifth field')
    if (cookies.length >= maxCookies) throw refuse(`is more than ${maxCookies} cookies`)
    const host = domain.replace(/^\./, '')
    cookies.push({
      name,
      value: value[0]!,
      domain: isTrue(subdomains) ? `.${host}` : host,
      path,
      expires: expires === '0' ? -1 : Number(expires),
      httpOnly: isHttpOnly,
      secure: isTrue(secure),
    })
  }
  return cookies
}

const isTrue = (text: string) => text.toUpperCase() === 'TRUE'
