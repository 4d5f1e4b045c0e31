// The upstreams behind datacenter, isp, residential and mobile proxies, and behind stealth sessions: a JSON
// file of the operator's (README.md has the format). User names and passwords may say which exit is wanted:
// {country} stands for what was asked for, and a part in [brackets] is left out where that is nothing.
import {
  exitFieldNames,
  type ExitField,
  type ManagedProxyType,
  type ProxyConfig,
} from '@berth/contracts/proxies'
import {
  STEALTH_DEFAULT,
  type ProxyExit,
  type ProxyProvider,
  type ProxyProviders,
} from '../../config/parsers/proxy-providers.ts'
import type { UpstreamProxy } from '../../instances/egress/route.ts'

const FIELD = new RegExp(`\\{(${exitFieldNames.join('|')})\\}`, 'gi')
const OPTIONAL = /\[([^[\]]*)\]/g

interface Entry {
  readonly proxy: UpstreamProxy
  /** Properties that all its exits share. */
  readonly where: ProxyExit
  readonly needed: ReadonlySet<ExitField>
  readonly possible: ReadonlySet<ExitField>
}

export class Providers {
  readonly #entries: ReadonlyMap<string, readonly Entry[]>

  constructor(providers: ProxyProviders) {
    this.#entries = new Map([...providers].map(([name, list]) => [name, list.map(toEntry)]))
  }

  has(type: ManagedProxyType): boolean {
    return this.#of(type).length > 0
  }

  /** The first entry that supports all requested fields and gets all fields it needs. */
  find(type: ManagedProxyType, config: ProxyConfig): UpstreamProxy | undefined {
    return choose(this.#of(type), exitOf(config))
  }

  /** The proxy of stealth sessions that have no other one. */
  get stealthDefault(): UpstreamProxy | undefined {
    return choose(this.#of(STEALTH_DEFAULT), {})
  }

  /** Why `find` finds nothing: a field or value that no entry supports, and the supported fields. */
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

function toEntry({ where, ...proxy }: ProxyProvider): Entry {
  const templates = `${proxy.username ?? ''} ${proxy.password ?? ''}`
  const withoutOptional = templates.replaceAll(OPTIONAL, (part, inner: string) =>
    fieldsIn(inner).length > 0 ? '' : part,
  )
  return {
    proxy: { ...proxy, isOperators: true },
    where,
    needed: new Set(fieldsIn(withoutOptional)),
    possible: new Set(fieldsIn(templates)),
  }
}

function exitOf(config: ProxyConfig): ProxyExit {
  return Object.fromEntries(
    exitFieldNames.flatMap((name) => (config[name] === undefined ? [] : [[name, config[name]]])),
  )
}

function choose(entries: readonly Entry[], exit: ProxyExit): UpstreamProxy | undefined {
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

function takes({ where, possible }: Entry, name: ExitField, exit: ProxyExit): boolean {
  const fixed = where[name]
  if (fixed !== undefined) return fixed.toLowerCase() === exit[name]?.toLowerCase()
  return possible.has(name)
}

/** Fills {country} in lower case and {COUNTRY} in upper case. */
function fill(template: string, values: ProxyExit): string {
  const fillAll = (text: string) =>
    text.replaceAll(FIELD, (_match, name: string) => {
      const value = values[name.toLowerCase() as ExitField] ?? ''
      return name === name.toLowerCase() ? value.toLowerCase() : value.toUpperCase()
    })
  const withParts = template.replaceAll(OPTIONAL, (part, inner: string) => {
    const names = fieldsIn(inner)
    // Brackets without a field name belong to the password itself.
    if (names.length === 0) return part
    return names.every((name) => values[name] !== undefined) ? fillAll(inner) : ''
  })
  return fillAll(withParts)
}

function fieldsIn(template: string): ExitField[] {
  return [...template.matchAll(FIELD)].map(([, name]) => name!.toLowerCase() as ExitField)
}
