// What a connection takes of an exported session: only what belongs to its own domains, and only what a browser keeps.
import {
  MAX_COOKIES,
  MAX_LEFT_OUT,
  type GivenCookie,
  type ImportSessionRequest,
  type ImportSessionResponse,
  type LeftOutReason,
} from '@berth/contracts/session-import'
import { isOf, ownHosts } from '@berth/login/hosts/hosts'
import type { ImportedSession } from '@berth/login/run/run'
import { invalidInput } from '../../platform/errors/app-error.ts'
import { readCookiesTxt } from './cookies-txt.ts'

type Cookie = ImportedSession['cookies'][number]
type LeftOut = ImportSessionResponse['left_out'][number]

export interface ReadImport {
  readonly session: ImportedSession
  readonly leftOut: readonly LeftOut[]
  readonly leftOutCount: number
}

const MAX_PATH_LENGTH = 1_024
/** What ends a name or a value in a header, and characters without a sign. */
const UNFIT_NAME = /[\p{Cc};=]/u
const UNFIT_VALUE = /[\p{Cc};]/u
/** Chromium keeps no cookie whose name and value are longer together. */
const MAX_PAIR_BYTES = 4_096

export function readImport(
  body: ImportSessionRequest,
  { domain, allowedDomains }: { domain: string; allowedDomains: readonly string[] },
  now = Date.now(),
): ReadImport {
  const given = Object.entries(body).filter(([, value]) => value !== undefined)
  if (given.length !== 1) {
    throw invalidInput('storage_state', 'exactly one of storage_state, cookies and cookies_txt must be given')
  }
  const [format] = given[0]!
  const cookies =
    body.storage_state?.cookies ?? body.cookies ?? readCookiesTxt(body.cookies_txt ?? '', MAX_COOKIES)
  const origins = body.storage_state?.origins ?? []
  const hosts = [domain, ...allowedDomains].flatMap(ownHosts)
  const out = new LeftOutList()
  const at = body.storage_state ? 'storage_state.cookies' : 'cookies'
  const taken = cookies.flatMap((cookie, index): Cookie[] => {
    const read = readCookie(cookie, { field: `${at}[${index}]`, hosts, now })
    if (typeof read !== 'string') return [read]
    out.add({ kind: 'cookie', name: cookie.name.slice(0, 200), domain: cookie.domain, reason: read })
    return []
  })
  const stores = new Map<string, ImportedSession['origins'][number]>()
  for (const [index, { origin: written, localStorage = [], indexedDB = [] }] of origins.entries()) {
    const origin = readOrigin(written, `storage_state.origins[${index}].origin`)
    if (!isOf(origin, hosts)) {
      out.add({ kind: 'origin', domain: origin, reason: 'other_domain' })
      continue
    }
    if (indexedDB.length > 0) out.add({ kind: 'origin', domain: origin, reason: 'indexed_db' })
    const before = stores.get(origin)?.items ?? []
    const items = localStorage.map(({ name, value }) => ({ name, value }))
    if (items.length > 0) stores.set(origin, { origin, items: [...before, ...items] })
  }
  if (taken.length === 0 && stores.size === 0) {
    const why = out.count === 0 ? 'it is empty' : `${out.count} entries are of other domains, or over`
    throw invalidInput(
      format,
      `has nothing that ${domain} or the connection's allowed_domains can use: ${why}. Export it while you are signed in there`,
    )
  }
  return {
    session: { cookies: taken, origins: [...stores.values()] },
    leftOut: out.first,
    leftOutCount: out.count,
  }
}

class LeftOutList {
  readonly first: LeftOut[] = []
  count = 0

  add(entry: LeftOut): void {
    this.count++
    if (this.first.length < MAX_LEFT_OUT) this.first.push(entry)
  }
}

function readCookie(
  cookie: GivenCookie,
  { field, hosts, now }: { field: string; hosts: readonly string[]; now: number },
): Cookie | LeftOutReason {
  const { name, value, path = '/', httpOnly, secure, partitionKey } = cookie
  const host = cookie.domain.replace(/^\./, '').toLowerCase()
  if (!URL.parse(`https://${host}/`) || /[/@:?#\s]/.test(host.replace(/^\[[^\]]*\]$/, ''))) {
    throw invalidInput(`${field}.domain`, 'must be a host such as example.com, without scheme and port')
  }
  if (!path.startsWith('/')) throw invalidInput(`${field}.path`, 'must begin with /')
  const sameSite = readSameSite(cookie.sameSite, `${field}.sameSite`)
  const expires = cookie.expires ?? cookie.expirationDate ?? -1
  if (!isOfHost(host, hosts)) return 'other_domain'
  if (expires >= 0 && expires * 1000 <= now) return 'expired'
  if (partitionKey !== undefined && partitionKey !== null && partitionKey !== '') return 'partitioned'
  const isFit =
    !UNFIT_NAME.test(name) &&
    !UNFIT_VALUE.test(value) &&
    Buffer.byteLength(name) + Buffer.byteLength(value) <= MAX_PAIR_BYTES &&
    (name !== '' || value !== '') &&
    path.length <= MAX_PATH_LENGTH
  if (!isFit) return 'not_importable'
  const isHostOnly = cookie.hostOnly ?? !cookie.domain.startsWith('.')
  return {
    name,
    value,
    host,
    isHostOnly,
    path,
    isSecure: secure === true,
    isHttpOnly: httpOnly === true,
    ...(sameSite && { sameSite }),
    ...(expires >= 0 && { expires }),
  }
}

function readSameSite(text: string | null | undefined, field: string): Cookie['sameSite'] {
  switch ((text ?? '').toLowerCase()) {
    case 'strict':
      return 'Strict'
    case 'lax':
      return 'Lax'
    case 'none':
    case 'no_restriction':
      return 'None'
    case '':
    case 'unspecified':
      return undefined
    default:
      throw invalidInput(field, 'must be Strict, Lax or None')
  }
}

function readOrigin(text: string, field: string): string {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw invalidInput(field, 'must be an origin such as https://example.com')
  }
  return url.origin
}

/** Cookies are of a host, whatever its port. */
function isOfHost(host: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => {
    const name = pattern.replace(/:\d+$/, '')
    return name.startsWith('*.') ? host.endsWith(name.slice(1)) : host === name
  })
}
