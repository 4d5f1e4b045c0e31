// The JSON file behind BERTH_PROXY_PROVIDERS. Its format is in sessions/proxies/README.md.
import {
  exitFieldNames,
  managedProxyTypes,
  proxyProtocols,
  type ExitField,
  type ManagedProxyType,
  type ProxyProtocol,
} from '@berth/contracts/proxies'
import { readAuthority } from '@berth/kit/authority'
import { SettingError } from './setting-error.ts'
import { fileContent } from './basic.ts'

const ENTRY_FIELDS = ['url', 'username', 'password', 'ca_bundle', 'where']

/** The entry that stealth sessions without a proxy use. */
export const STEALTH_DEFAULT = 'stealth_default'

/** Where a proxy's traffic leaves: its country, city and so on. */
export type ProxyExit = Partial<Record<ExitField, string>>

export interface ProxyProvider {
  readonly protocol: ProxyProtocol
  readonly host: string
  readonly port: number
  /** Both are templates: `{country}` is replaced by the proxy's country. */
  readonly username?: string
  readonly password?: string
  readonly caBundle?: string
  /** The properties that all its exits share. */
  readonly where: ProxyExit
}

/** By proxy type, or STEALTH_DEFAULT. */
export type ProxyProviders = ReadonlyMap<string, readonly ProxyProvider[]>

export function proxyProviders(path: string): ProxyProviders {
  const content = fileContent(path)
  try {
    return content ? parseProxyProviders(content.toString()) : new Map()
  } catch (error) {
    throw new SettingError(`must name a JSON file of proxies, but in "${path}" ${(error as Error).message}`)
  }
}

/** Its errors never repeat a value, because the file contains passwords. */
export function parseProxyProviders(text: string): ProxyProviders {
  const file = asObject(parseJson(text), 'it')
  const providers = new Map<string, ProxyProvider[]>()
  for (const [name, value] of Object.entries(file)) {
    if (name !== STEALTH_DEFAULT && !managedProxyTypes.includes(name as ManagedProxyType)) {
      throw new Error(`"${name}" is not one of ${[...managedProxyTypes, STEALTH_DEFAULT].join(', ')}`)
    }
    const list: unknown[] = Array.isArray(value) ? value : [value]
    providers.set(
      name,
      list.map((each, index) => readProvider(each, Array.isArray(value) ? `${name}[${index}]` : name)),
    )
  }
  return providers
}

function readProvider(value: unknown, place: string): ProxyProvider {
  const entry = asObject(value, place)
  const unknown = Object.keys(entry).find((name) => !ENTRY_FIELDS.includes(name))
  if (unknown !== undefined)
    throw new Error(`${place} has "${unknown}", which is not one of ${ENTRY_FIELDS.join(', ')}`)
  const text = (name: string): string | undefined => {
    const field = entry[name]
    if (field === undefined || typeof field === 'string') return field
    throw new Error(`${place}.${name} must be text`)
  }
  const username = text('username')
  const password = text('password')
  const caBundle = text('ca_bundle')
  return {
    ...readUrl(text('url'), `${place}.url`),
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(caBundle !== undefined && { caBundle }),
    where: readWhere(entry['where'], `${place}.where`),
  }
}

function readUrl(text: string | undefined, place: string): Pick<ProxyProvider, 'protocol' | 'host' | 'port'> {
  const [, protocol, authority] = /^([a-z0-9]+):\/\/([^/]+)\/?$/.exec(text ?? '') ?? []
  if (authority === undefined || !proxyProtocols.includes(protocol as ProxyProtocol)) {
    throw new Error(`${place} must be like http://host:port, with one of ${proxyProtocols.join(', ')}`)
  }
  if (authority.includes('@')) throw new Error(`${place} must not have a user name; there are fields for it`)
  try {
    return { protocol: protocol as ProxyProtocol, ...readAuthority(authority) }
  } catch (error) {
    throw new Error(`${place} must have a host and a port`, { cause: error })
  }
}

function readWhere(value: unknown, place: string): ProxyExit {
  const where: ProxyExit = {}
  for (const [name, each] of Object.entries(value === undefined ? {} : asObject(value, place))) {
    if (!exitFieldNames.includes(name as ExitField) || typeof each !== 'string') {
      throw new Error(`${place} must give text for some of ${exitFieldNames.join(', ')}`)
    }
    where[name as ExitField] = each
  }
  return where
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('it is not JSON')
  }
}

function asObject(value: unknown, place: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error(`${place} must be an object`)
  }
  return value as Record<string, unknown>
}
