// The upstreams behind datacenter, isp, residential and mobile proxies, and behind stealth sessions: a JSON
// file of the operator's (README.md has the format). User names and passwords may say which exit is wanted:
// {country} stands for what was asked for, and a part in [brackets] is left out where that is nothing.
import {
  exitFieldNames,
  managedProxyTypes,
  proxyProtocols,
  type ExitField,
  type ManagedProxyType,
  type ProxyConfig,
  type ProxyProtocol,
} from '@berth/contracts/proxies'
import type { UpstreamProxy } from '../../instances/egress/route.ts'
import { readConnectTarget } from '../../instances/egress/target.ts'

const ENTRY_FIELDS = ['url', 'username', 'password', 'ca_bundle', 'where']
const STEALTH = 'stealth_default'
const FIELD = new RegExp(`\\{(${exitFieldNames.join('|')})\\}`, 'gi')
const OPTIONAL = /\[([^[\]]*)\]/g

type Exit = Partial<Record<ExitField, string>>

interface Entry {
  readonly proxy: UpstreamProxy
  /** What all of its exits have in common. */
  readonly where: Exit
  readonly needed: ReadonlySet<ExitField>
  readonly possible: ReadonlySet<ExitField>
}

export class Providers {
  readonly #entries: ReadonlyMap<string, readonly Entry[]>

  private constructor(entries: ReadonlyMap<string, readonly Entry[]>) {
    this.#entries = entries
  }

  static readonly none = new Providers(new Map())

  /** Throws with what is wrong, and never with what is written: there are passwords in it. */
  static parse(text: string): Providers {
    const file = asObject(parseJson(text), 'it')
    const entries = new Map<string, Entry[]>()
    for (const [name, value] of Object.entries(file)) {
      if (name !== STEALTH && !managedProxyTypes.includes(name as ManagedProxyType)) {
        throw new Error(`"${name}" is none of ${[...managedProxyTypes, STEALTH].join(', ')}`)
      }
      const list: unknown[] = Array.isArray(value) ? value : [value]
      entries.set(
        name,
        list.map((each, index) => readEntry(each, Array.isArray(value) ? `${name}[${index}]` : name)),
      )
    }
    return new Providers(entries)
  }

  has(type: ManagedProxyType): boolean {
    return this.#of(type).length > 0
  }

  /** The first that can be told all that was asked for, and is told all it needs. */
  find(type: ManagedProxyType, config: ProxyConfig): UpstreamProxy | undefined {
    return choose(this.#of(type), exitOf(config))
  }

  /** What stealth sessions use that have no proxy of their own. */
  get stealthDefault(): UpstreamProxy | undefined {
    return choose(this.#of(STEALTH), {})
  }

  /** Why `find` finds nothing: a field that no entry knows, or not with this value; and those that are known. */
  shortcoming(
    type: ManagedProxyType,
    config: ProxyConfig,
  ): { field: ExitField | undefined; choices: readonly ExitField[] } {
    const entries = this.#of(type)
    const exit = exitOf(config)
    const choices = exitFieldNames.filter((name) =>
      entries.some(({ possible, where }) => possible.has(name) || where[name] !== undefined),
    )
    const field =
      exitFieldNames.find(
        (name) => exit[name] !== undefined && !entries.some((entry) => takes(entry, name, exit)),
      ) ??
      exitFieldNames.find(
        (name) => exit[name] === undefined && entries.every(({ needed }) => needed.has(name)),
      )
    return { field, choices }
  }

  #of(name: string): readonly Entry[] {
    return this.#entries.get(name) ?? []
  }
}

function exitOf(config: ProxyConfig): Exit {
  return Object.fromEntries(
    exitFieldNames.flatMap((name) => (config[name] === undefined ? [] : [[name, config[name]]])),
  )
}

function choose(entries: readonly Entry[], exit: Exit): UpstreamProxy | undefined {
  const names = Object.keys(exit) as ExitField[]
  const entry = entries.find(
    (each) =>
      names.every((name) => takes(each, name, exit)) &&
      [...each.needed].every((name) => (exit[name] ?? each.where[name]) !== undefined),
  )
  if (!entry) return undefined
  const { proxy, where } = entry
  const values = { ...where, ...exit }
  return {
    ...proxy,
    ...(proxy.username !== undefined && { username: fill(proxy.username, values) }),
    ...(proxy.password !== undefined && { password: fill(proxy.password, values) }),
  }
}

function takes({ where, possible }: Entry, name: ExitField, exit: Exit): boolean {
  const fixed = where[name]
  if (fixed !== undefined) return fixed.toLowerCase() === exit[name]?.toLowerCase()
  return possible.has(name)
}

/** {country} in small letters, {COUNTRY} in capitals, as the provider wants it. */
function fill(template: string, values: Exit): string {
  const fillAll = (text: string) =>
    text.replaceAll(FIELD, (_match, name: string) => {
      const value = values[name.toLowerCase() as ExitField] ?? ''
      return name === name.toLowerCase() ? value.toLowerCase() : value.toUpperCase()
    })
  const withParts = template.replaceAll(OPTIONAL, (part, inner: string) => {
    const names = fieldsIn(inner)
    // Brackets around nothing of ours are the password's own.
    if (names.length === 0) return part
    return names.every((name) => values[name] !== undefined) ? fillAll(inner) : ''
  })
  return fillAll(withParts)
}

function fieldsIn(template: string): ExitField[] {
  return [...template.matchAll(FIELD)].map(([, name]) => name!.toLowerCase() as ExitField)
}

function readEntry(value: unknown, place: string): Entry {
  const entry = asObject(value, place)
  const unknown = Object.keys(entry).find((name) => !ENTRY_FIELDS.includes(name))
  if (unknown !== undefined)
    throw new Error(`${place} has "${unknown}", which is none of ${ENTRY_FIELDS.join(', ')}`)
  const text = (name: string): string | undefined => {
    const field = entry[name]
    if (field === undefined || typeof field === 'string') return field
    throw new Error(`${place}.${name} must be text`)
  }
  const username = text('username')
  const password = text('password')
  const caBundle = text('ca_bundle')
  const templates = `${username ?? ''} ${password ?? ''}`
  return {
    proxy: {
      ...readUrl(text('url'), `${place}.url`),
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
      ...(caBundle !== undefined && { caBundle }),
      isOperators: true,
    },
    where: readWhere(entry['where'], `${place}.where`),
    needed: new Set(
      fieldsIn(
        templates.replaceAll(OPTIONAL, (part, inner: string) => (fieldsIn(inner).length > 0 ? '' : part)),
      ),
    ),
    possible: new Set(fieldsIn(templates)),
  }
}

function readUrl(text: string | undefined, place: string): Pick<UpstreamProxy, 'protocol' | 'host' | 'port'> {
  const [, protocol, authority] = /^([a-z0-9]+):\/\/([^/]+)\/?$/.exec(text ?? '') ?? []
  if (authority === undefined || !proxyProtocols.includes(protocol as ProxyProtocol)) {
    throw new Error(`${place} must be like http://host:port, with one of ${proxyProtocols.join(', ')}`)
  }
  if (authority.includes('@')) throw new Error(`${place} must not have a user name; there are fields for it`)
  try {
    return { protocol: protocol as ProxyProtocol, ...readConnectTarget(authority) }
  } catch (error) {
    throw new Error(`${place} must have a host and a port`, { cause: error })
  }
}

function readWhere(value: unknown, place: string): Exit {
  const where: Exit = {}
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
