// Every setting of the server: one row each, read from the environment, checked before anything
// starts, and explained by `npm start -- --help`.
import { readFileSync } from 'node:fs'
import { BlockList, isIP } from 'node:net'
import { resolve } from 'node:path'
import { createSecureContext } from 'node:tls'
import { parseCidr } from '@berth/kit/cidr'
import { Providers } from '../sessions/proxies/providers.ts'

class SettingError extends Error {}

interface Setting<T> {
  readonly default: string
  readonly help: string
  readonly parse: (value: string) => T
  /** What `--help` shows as the default, where the real one is long or computed. */
  readonly shownDefault?: string
}

const setting = <T>(row: Setting<T>): Setting<T> => row
const text = (value: string): string => value

function integer(min: number, max: number) {
  return (value: string): number => {
    const number = Number(value)
    if (!/^\d+$/.test(value) || number < min || number > max) {
      throw new SettingError(`must be a whole number from ${min} to ${max}, but is "${value}"`)
    }
    return number
  }
}

function oneOf<const V extends string>(...values: V[]) {
  return (value: string): V => {
    if (!values.includes(value as V)) {
      throw new SettingError(`must be one of ${values.join(', ')}, but is "${value}"`)
    }
    return value as V
  }
}

function boolean(value: string): boolean {
  return oneOf('true', 'false')(value) === 'true'
}

function commaList(value: string): string[] {
  return value
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean)
}

function fileContent(path: string): Buffer | undefined {
  if (!path) return undefined
  try {
    return readFileSync(path)
  } catch (error) {
    throw new SettingError(`must name a readable file, but "${path}" gives ${(error as Error).message}`)
  }
}

function publicUrl(value: string): URL | undefined {
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

function requiredUrl(value: string): URL {
  return publicUrl(value)!
}

function registryUrl(value: string): URL {
  const url = URL.parse(value)
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.search || url.hash) {
    throw new SettingError(`must be an http or https URL without user name, but is "${value}"`)
  }
  return url
}

function databaseUrl(value: string): string | undefined {
  if (!value) return undefined
  // The value may hold a password, so the message does not repeat it.
  if (!/^postgres(ql)?:\/\//.test(value)) throw new SettingError('must start with postgres://')
  return value
}

function networks(value: string): string[] {
  for (const item of commaList(value)) {
    if (!parseCidr(item)) throw new SettingError(`must list addresses or CIDRs, but has "${item}"`)
  }
  return commaList(value)
}

function egressAllow(value: string): string[] {
  for (const item of commaList(value)) {
    const isHostPort = /^[a-z0-9.-]+:(\d{1,5}|\*)$/i.test(item)
    if (!parseCidr(item) && !isHostPort) {
      throw new SettingError(`must list CIDRs or host:port, but has "${item}"`)
    }
  }
  return commaList(value)
}

function proxyProviders(path: string): Providers {
  const content = fileContent(path)
  try {
    return content ? Providers.parse(content.toString()) : Providers.none
  } catch (error) {
    throw new SettingError(`must name a JSON file of proxies, but in "${path}" ${(error as Error).message}`)
  }
}

function webUrls(value: string): URL[] {
  return commaList(value).map((item) => {
    const url = URL.parse(item)
    if (url && /^https?:$/.test(url.protocol)) return url
    throw new SettingError(`must list http or https URLs, but has "${item}"`)
  })
}

function hostNames(value: string): string[] {
  for (const item of commaList(value)) {
    if (!/^[a-z0-9.-]+$/i.test(item) && isIP(item) === 0) {
      throw new SettingError(`must list host names without port, but has "${item}"`)
    }
  }
  return commaList(value).map((item) => item.toLowerCase())
}

function apiKey(value: string): string | undefined {
  if (!value) return undefined
  if (!/^[\x21-\x7e]{8,200}$/.test(value)) {
    throw new SettingError('must be 8 to 200 visible ASCII characters without spaces')
  }
  return value
}

function masterKeys(value: string): Buffer[] {
  return commaList(value).map((item) => {
    const key = Buffer.from(item, 'base64')
    if (key.length !== 32) {
      throw new SettingError('must be 32 bytes in base64 (openssl rand -base64 32)')
    }
    return key
  })
}

const settings = {
  BERTH_HOST: setting({
    default: '127.0.0.1',
    parse: text,
    help: 'Address to listen on. Anything but loopback needs a strong key; see BERTH_API_KEY.',
  }),
  BERTH_PORT: setting({
    default: '8080',
    parse: integer(0, 65535),
    help: 'Port to listen on; 0 takes a free one.',
  }),
  BERTH_PUBLIC_URL: setting({
    default: '',
    shownDefault: "the request's own host",
    parse: publicUrl,
    help: 'Address clients reach the server at; session URLs are built from it.',
  }),
  BERTH_INTERNAL_URL: setting({
    default: '',
    shownDefault: 'the address it listens on',
    parse: publicUrl,
    help: 'With several servers: address the others reach this one at, for sessions that run here.',
  }),
  BERTH_DATA_DIR: setting({
    default: '.berth',
    parse: (value) => resolve(value),
    help: 'Where the database, blobs, keys and the first API key (file api-key) are kept.',
  }),
  BERTH_API_KEY: setting({
    default: '',
    shownDefault: 'a random one',
    parse: apiKey,
    help: 'The first organisation key, read at the first start only. At least 24 characters when listening beyond loopback.',
  }),
  DATABASE_URL: setting({
    default: '',
    shownDefault: 'an embedded server in the data directory',
    parse: databaseUrl,
    help: 'A PostgreSQL (14 or newer) of your own, postgres://user:password@host/database.',
  }),
  BERTH_DATABASE_POOL: setting({
    default: '10',
    parse: integer(2, 200),
    help: 'Most database connections of this server.',
  }),
  BERTH_MASTER_KEY: setting({
    default: '',
    shownDefault: 'made in the data directory',
    parse: masterKeys,
    help: 'Key that encrypts stored secrets: 32 bytes in base64. A comma list while rotating, the newest first.',
  }),
  BERTH_TLS_CERT: setting({
    default: '',
    parse: fileContent,
    help: 'Certificate chain file (PEM) to serve HTTPS with; needs BERTH_TLS_KEY.',
  }),
  BERTH_TLS_KEY: setting({
    default: '',
    parse: fileContent,
    help: 'Private key file (PEM) of that certificate.',
  }),
  BERTH_TRUSTED_PROXIES: setting({
    default: '',
    parse: networks,
    help: 'Comma list of addresses or CIDRs of proxies whose X-Forwarded headers are believed.',
  }),
  BERTH_ALLOWED_HOSTS: setting({
    default: '',
    parse: hostNames,
    help: 'Comma list of host names answered besides the bound address, loopback names and the public URL.',
  }),
  BERTH_RATE_LIMIT_PER_MINUTE: setting({
    default: '12000',
    parse: integer(0, 10_000_000),
    help: 'Requests the organisation may make in a minute, counted by each server; 0 for no limit.',
  }),
  BERTH_MAX_CONCURRENT_SESSIONS: setting({
    default: '100',
    parse: integer(1, 1_000_000),
    help: 'Browser sessions of the whole organisation at once.',
  }),
  BERTH_MAX_CONCURRENT_INVOCATIONS: setting({
    default: '100',
    parse: integer(1, 1_000_000),
    help: 'App invocations of the whole organisation at once.',
  }),
  BERTH_MAX_POOLED_SESSIONS: setting({
    default: '100',
    parse: integer(1, 1_000_000),
    help: 'Pooled sessions of the whole organisation at once.',
  }),
  BERTH_ACQUIRE_WAIT_SECONDS: setting({
    default: '50',
    parse: integer(1, 3600),
    help: 'How long a request for a browser of a pool waits at most when it does not say so. Published clients give up after 60.',
  }),
  BERTH_OPERATOR_ID: setting({
    default: 'operator',
    parse: text,
    help: 'Id of the creator shown on the first key and on keys made with it.',
  }),
  BERTH_OPERATOR_NAME: setting({ default: 'Operator', parse: text, help: 'Name of that creator.' }),
  BERTH_OPERATOR_EMAIL: setting({
    default: 'operator@localhost',
    parse: text,
    help: 'E-mail address of that creator.',
  }),
  BERTH_AUDIT_RETENTION_DAYS: setting({
    default: '365',
    parse: integer(1, 36500),
    help: 'Days the audit log is kept.',
  }),
  BERTH_TELEMETRY_RETENTION_DAYS: setting({
    default: '30',
    parse: integer(1, 36500),
    help: 'For browser sessions: days their events are kept.',
  }),
  BERTH_TELEMETRY_SESSION_MB: setting({
    default: '64',
    parse: integer(1, 1_000_000),
    help: 'For browser sessions: most that the events of one may take, compressed; the oldest go first.',
  }),
  BERTH_LOG_LEVEL: setting({
    default: 'info',
    parse: oneOf('debug', 'info', 'warn', 'error', 'silent'),
    help: 'Least severe log line written. Reads and refusals are logged at debug.',
  }),
  BERTH_DRAIN_SECONDS: setting({
    default: '1',
    parse: integer(0, 3600),
    help: 'After SIGTERM, how long to go on serving while /ready answers 503, for load balancers.',
  }),
  BERTH_SHUTDOWN_GRACE_SECONDS: setting({
    default: '20',
    parse: integer(1, 3600),
    help: 'After that, how long requests under way may take to finish.',
  }),
  BERTH_EGRESS_ALLOW: setting({
    default: '',
    parse: egressAllow,
    help: 'For browser sessions: private CIDRs or host:port they may reach, e.g. host.berth.internal:3000.',
  }),
  BERTH_PROXY_PROVIDERS: setting({
    default: '',
    parse: proxyProviders,
    help: 'JSON file with the upstreams behind datacenter, isp, residential and mobile proxies; the format is in packages/server/src/proxies/README.md.',
  }),
  BERTH_PROXY_CHECK_URLS: setting({
    default: 'https://api.ipify.org,https://checkip.amazonaws.com',
    parse: webUrls,
    help: 'Comma list of URLs that answer with the address of who asks; proxies are checked by asking them, the first one that answers.',
  }),
  BERTH_CHROME_STORE_URL: setting({
    default: 'https://clients2.google.com',
    parse: requiredUrl,
    help: 'Where extensions of the Chrome Web Store are fetched from, as far as BERTH_EGRESS_ALLOW and its rules let it.',
  }),
  BERTH_WARM_HEADLESS: setting({
    default: '1',
    parse: integer(0, 1000),
    help: 'For browser sessions: settled headless instances held ready.',
  }),
  BERTH_WARM_HEADFUL: setting({
    default: '1',
    parse: integer(0, 1000),
    help: 'For browser sessions: settled headful instances held ready.',
  }),
  BERTH_EMPTY_INSTANCES: setting({
    default: '1',
    parse: integer(0, 1000),
    help: 'For browser sessions: instances held ready without a browser, for when no settled one is left.',
  }),
  BERTH_SESSION_MEMORY_MB: setting({
    default: '2048',
    parse: integer(256, 1_000_000),
    help: 'For browser sessions: memory of a headless one, its files included; a headful one has twice as much.',
  }),
  BERTH_SESSION_DISK_MB: setting({
    default: '1024',
    parse: integer(64, 1_000_000),
    help: 'For browser sessions: how much the home directory holds, in memory.',
  }),
  BERTH_SESSION_CPUS: setting({
    default: '2',
    parse: integer(1, 1000),
    help: 'For browser sessions: processors one may use.',
  }),
  BERTH_SESSION_PROCESSES: setting({
    default: '1024',
    parse: integer(64, 1_000_000),
    help: 'For browser sessions: processes and threads one may have.',
  }),
  BERTH_MAX_FILE_MB: setting({
    default: '4096',
    parse: integer(1, 1_000_000),
    help: 'For browser sessions: most that one upload of files may have.',
  }),
  BERTH_MAX_VIEWERS: setting({
    default: '20',
    parse: integer(1, 10_000),
    help: 'For browser sessions: how many may watch one at once in the live view, counted by each server.',
  }),
  BERTH_REPLAY_MAX_MB: setting({
    default: '500',
    parse: integer(1, 4000),
    help: 'For browser sessions: size at which a recording stops by itself.',
  }),
  BERTH_REPLAY_RETENTION_DAYS: setting({
    default: '30',
    parse: integer(1, 36500),
    help: 'Days that recordings are kept after they ended.',
  }),
  BERTH_PROFILE_MAX_MB: setting({
    default: '512',
    parse: integer(1, 100_000),
    help: 'Most that a profile may have, unpacked and without caches. Sessions hold it in their home directory.',
  }),
  BERTH_PROFILE_VERSIONS: setting({
    default: '10',
    parse: integer(1, 1000),
    help: 'How many versions of a profile are kept, the current one among them.',
  }),
  BERTH_NPM_REGISTRY: setting({
    default: '',
    parse: (value) => (value ? registryUrl(value) : undefined),
    help: 'For apps: the npm registry their packages come from; open to them while they are built, wherever it is. Empty: the one that npm of this machine uses.',
  }),
  BERTH_PYTHON_INDEX: setting({
    default: 'https://pypi.org/simple/',
    parse: registryUrl,
    help: 'For apps: the same for packages of Python.',
  }),
  BERTH_APP_MEMORY_MB: setting({
    default: '2048',
    parse: integer(256, 1_000_000),
    help: 'For apps: memory of an instance, its files and all invocations in it included.',
  }),
  BERTH_APP_INVOCATION_MEMORY_MB: setting({
    default: '512',
    parse: integer(64, 1_000_000),
    help: 'For apps: memory of one invocation.',
  }),
  BERTH_APP_INVOCATIONS_PER_INSTANCE: setting({
    default: '16',
    parse: integer(1, 1000),
    help: 'For apps: invocations of a deployment that share an instance; each has a process of its own.',
  }),
  BERTH_APP_DISK_MB: setting({
    default: '1024',
    parse: integer(16, 1_000_000),
    help: 'For apps: how much the files of one may take, packages included, in memory.',
  }),
  BERTH_APP_SOURCE_MB: setting({
    default: '256',
    parse: integer(1, 1_000_000),
    help: 'For apps: most that an uploaded archive may have.',
  }),
  BERTH_APP_IDLE_SECONDS: setting({
    default: '600',
    parse: integer(1, 1_000_000),
    help: 'For apps: how long an instance without invocations is kept, frozen, for the next one.',
  }),
  BERTH_APP_LOG_RETENTION_DAYS: setting({
    default: '7',
    parse: integer(1, 36500),
    help: 'For apps: days that their logs are kept.',
  }),
  BERTH_INVOCATION_RETENTION_DAYS: setting({
    default: '30',
    parse: integer(1, 36500),
    help: 'For apps: days that invocations are kept after they ended, with payload and output.',
  }),
  BERTH_LOGIN_SECONDS: setting({
    default: '1200',
    parse: integer(1, 86_400),
    help: 'For auth connections: how long a login flow may take in all.',
  }),
  BERTH_LOGIN_WAIT_SECONDS: setting({
    default: '600',
    parse: integer(1, 86_400),
    help: 'For auth connections: how long a login flow waits for a person to fill in or to do something.',
  }),
  BERTH_LOGIN_CHECKS_AT_ONCE: setting({
    default: '2',
    parse: integer(1, 1000),
    help: 'For auth connections: health checks of this server at once; each is a browser session.',
  }),
  BERTH_LOGIN_RETENTION_DAYS: setting({
    default: '90',
    parse: integer(1, 36500),
    help: 'For auth connections: days that flows and health checks are kept in the timeline.',
  }),
  BERTH_HEALTH_CHECK_MIN_SECONDS: setting({
    default: '300',
    parse: integer(1, 86_400),
    help: 'For auth connections: least interval of health checks that may be asked for.',
  }),
  BERTH_LEASE_SECONDS: setting({
    default: '20',
    parse: integer(2, 3600),
    help: 'For browser sessions: how long they live on without a server; one that starts within it takes them over.',
  }),
  BERTH_ALLOW_WEAK_ISOLATION: setting({
    default: 'false',
    parse: boolean,
    help: 'For browser sessions: run instances even where a layer of isolation is missing.',
  }),
}

type Settings = { [K in keyof typeof settings]: ReturnType<(typeof settings)[K]['parse']> }
export type Config = Readonly<Settings>

/** Test hooks, not settings: they are refused unless the process says it is a test. */
const TEST_VARIABLES = ['BERTH_CRASH_AT', 'BERTH_FAKE_INSTANCES']

export class ConfigError extends Error {
  constructor(problems: string[]) {
    super(`Cannot start: ${problems.join('\n              ')}\nRun npm start -- --help for every setting`)
  }
}

export function loadConfig(env: NodeJS.ProcessEnv): Config {
  const problems: string[] = []
  const values: Record<string, unknown> = {}
  for (const [name, row] of Object.entries(settings)) {
    try {
      values[name] = row.parse(env[name]?.trim() || row.default)
    } catch (error) {
      if (!(error instanceof SettingError)) throw error
      problems.push(`${name} ${error.message}`)
    }
  }
  for (const name of Object.keys(env)) {
    if (!name.startsWith('BERTH_') || name in settings) continue
    if (TEST_VARIABLES.includes(name) && env['NODE_ENV'] === 'test') continue
    problems.push(`${name} is not a setting${suggestion(name)}`)
  }
  if (problems.length === 0) {
    // SAFETY: no problem means every row of the table was parsed.
    problems.push(...contradictions(values as Settings))
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return values as Settings
}

function contradictions(config: Settings): string[] {
  const problems: string[] = []
  const { BERTH_TLS_CERT: cert, BERTH_TLS_KEY: key } = config
  if (Boolean(cert) !== Boolean(key)) {
    problems.push('BERTH_TLS_CERT and BERTH_TLS_KEY must be set together')
  } else if (cert && key) {
    try {
      createSecureContext({ cert, key })
    } catch (error) {
      problems.push(`BERTH_TLS_CERT and BERTH_TLS_KEY do not work together: ${(error as Error).message}`)
    }
  }
  const firstKey = config.BERTH_API_KEY
  if (firstKey && firstKey.length < 24 && !isLoopback(config.BERTH_HOST)) {
    problems.push(
      `BERTH_API_KEY must have at least 24 characters when BERTH_HOST is "${config.BERTH_HOST}", but has ${firstKey.length}`,
    )
  }
  return problems
}

export function isLoopback(host: string): boolean {
  if (host === 'localhost') return true
  const loopback = new BlockList()
  loopback.addSubnet('127.0.0.0', 8)
  loopback.addAddress('::1', 'ipv6')
  const family = isIP(host)
  return family !== 0 && loopback.check(host, family === 6 ? 'ipv6' : 'ipv4')
}

function suggestion(name: string): string {
  const words = new Set(name.split('_').slice(1))
  const close = Object.keys(settings).find(
    (known) =>
      isNearlySame(known, name) ||
      known
        .split('_')
        .slice(1)
        .every((word) => words.has(word)),
  )
  return close ? `; did you mean ${close}?` : ''
}

function isNearlySame(a: string, b: string): boolean {
  return sortedLetters(a) === sortedLetters(b) || a.startsWith(b) || b.startsWith(a)
}

function sortedLetters(word: string): string {
  return word.split('').toSorted().join('')
}

export function helpText(): string {
  const rows = Object.entries(settings).map(([name, row]) => {
    const shown = row.shownDefault ?? (row.default || 'none')
    return `  ${name}\n      ${row.help}\n      Default: ${shown}`
  })
  return `Berth: a self-hosted browser cloud

Usage: npm start            start the server
       npm start -- --help  this text

Settings are environment variables:

${rows.join('\n\n')}
`
}
