// Values that a schema accepts and that refer to existing resources where possible.
import type { FieldsSchema, ValueSchema } from '../conformance/bad-values.ts'
import { hostileStrings } from '../hostile/hostile-strings.ts'
import type { Random } from '../fixtures/random.ts'
import type { World } from './world.ts'

/** Mostly valid ones: an operation needs a credential that has one. */
const TOTP_SECRETS = [
  'JBSW Y3DP EHPK 3PXP',
  'JBSWY3DPEHPK3PXP',
  'GEZDGNBVGY3TQOJQ',
  '',
  'otpauth://totp/a',
  'short',
]

const WORDS = [
  'agent',
  'berth',
  'crawler',
  'Δοκιμή',
  'тест',
  '試験',
  'prüfung',
  'a b',
  '100 %',
  "o'clock",
  '🚢',
]

/** Refused if their target does not exist, or if the host has none. */
const RARE = new Set([
  'disable_default_proxy',
  'proxy_id',
  'gpu',
  'telemetry',
  'extensions',
  'timezone',
  'invocation_id',
  'server_url',
  'totp_algorithm',
  'totp_digits',
  'totp_period',
])

export class Values {
  readonly #random: Random
  readonly #world: World
  #count = 0

  constructor(random: Random, world: World) {
    this.#random = random
    this.#world = world
  }

  fields(schema: FieldsSchema): Record<string, unknown> {
    const names = Object.keys(schema.properties).filter(
      (name) => schema.required?.includes(name) || this.#random.chance(RARE.has(name) ? 0.02 : 0.5),
    )
    return Object.fromEntries(names.map((name) => [name, this.value(name, schema.properties[name]!)]))
  }

  value(name: string, schema: ValueSchema): unknown {
    const random = this.#random
    const types = [schema.type ?? 'string'].flat()
    if (types.includes('null') && random.chance(0.2)) return null
    // For a proxy: one that does not exist and fails quickly.
    if (name === 'config' && random.chance(0.7))
      return { host: 'proxy.invalid', port: this.#integer({ minimum: 1 }) }
    if (name === 'type' && schema.enum?.includes('custom') && random.chance(0.6)) return 'custom'
    if (name === 'profile') return this.#profile()
    if (schema.enum) return random.pick(schema.enum)
    if (schema.examples) return random.pick(schema.examples)
    switch (types[0]) {
      case 'integer':
      case 'number':
        // A longer wait would block other requests.
        return name === 'acquire_timeout_seconds' ? random.integer(0, 1) : this.#integer(schema)
      case 'boolean':
        return random.chance(0.5)
      case 'array':
        return Array.from({ length: random.integer(1, 3) }, () => this.value(name, schema.items!))
      case 'object':
        return 'properties' in schema ? this.fields(schema as FieldsSchema) : { [random.pick(WORDS)]: 'v' }
      default:
        return this.#text(name, schema)
    }
  }

  /** For a session; one that does not exist would always be refused. */
  #profile(): object {
    const id = this.#world.pick('profiles', this.#random)?.id ?? 'none'
    return { id, save_changes: this.#random.chance(0.5) }
  }

  #integer({ minimum = 0, maximum = 100 }: ValueSchema): number {
    const random = this.#random
    const small = Math.min(maximum, minimum + 30)
    return random.chance(0.1) ? random.pick([minimum, maximum]) : random.integer(minimum, small)
  }

  #text(name: string, schema: ValueSchema): string {
    const random = this.#random
    if (schema.format === 'date-time') return this.#time(name)
    if (name === 'project_id') return this.#world.pick('projects', random)?.id ?? 'none'
    if (name === 'auth_agent_id') return this.#world.pick('connections', random)?.id ?? 'none'
    if (name === 'proxy_id') return this.#world.pick('proxies', random)?.id ?? ''
    if (name === 'bypass_hosts') return random.pick(['a.example', '*.B.example', 'bücher.example', 'no host'])
    if (name === 'url' && schema.maxLength === 2048)
      return random.pick(['https://site.invalid/', 'http://10.0.0.1/'])
    // The only app that fake instances have.
    if ((name === 'app_name' || name === 'action_name') && random.chance(0.9)) return 'sample'
    if (name === 'version' && random.chance(0.8)) return 'latest'
    if (name === 'payload' || name === 'output') return random.pick(['{"a":[1]}', 'null', '"text"', '{'])
    if (name === 'domain')
      return random.pick(['a.example', 'https://B.example/login', 'c.example:8443', 'no host'])
    if (name === 'totp_secret') return random.pick(TOTP_SECRETS)
    if (name === 'token' && schema.pattern !== undefined) return random.pick(['ops_fuzz', 'eyJ-fuzz'])
    if (name === 'server_url') return random.pick(['https://secrets.invalid', 'http://10.0.0.1', 'nowhere'])
    if (name === 'since') return random.pick(['5m', '1h', new Date().toISOString(), 'soon'])
    if (name === 'page_token' || name === 'cursor') return this.#world.pickToken(random) ?? ''
    if (name === 'start_url') return random.pick(['https://example.com/', 'about:blank'])
    // The only kind of name that is not free text.
    if (name === 'name' && schema.pattern?.startsWith('^[a-z'))
      return this.newName()
        .replaceAll(/[^\w.-]/g, '')
        .slice(0, 60)
    if (name === 'query' || name === 'search') return this.#search()
    if (name === 'method' || name === 'exclude_method') return random.pick(['GET', 'post', 'DELETE'])
    return this.newName().slice(0, schema.maxLength)
  }

  /** New every time, because names are unique; sometimes strange, because names are free text. */
  newName(): string {
    const random = this.#random
    const unique = `${(this.#count++).toString(36)}-${random.integer(0, 1e9).toString(36)}`
    const word = random.chance(0.2) ? random.pick(hostileStrings) : random.pick(WORDS)
    return `${unique} ${word.slice(0, 150).toWellFormed()}`
  }

  #search(): string {
    const known = this.#world.pick(this.#random.pick(['projects', 'api_keys']), this.#random)
    const text = this.#random.pick([known?.name, known?.id, ...WORDS]) ?? 'a'
    return text.slice(0, this.#random.integer(1, 20)).toWellFormed()
  }

  /** Short ranges around now, which contain a few records. */
  #time(name: string): string {
    const shiftMs = name === 'start' ? -this.#random.integer(1, 3_000) : this.#random.integer(0, 3_000)
    return new Date(Date.now() + shiftMs).toISOString()
  }
}
