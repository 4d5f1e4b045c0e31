// Checks proxy definitions by type, for the rules that the schema cannot express.
import { isIP } from 'node:net'
import {
  type CreateProxyConfig,
  type CreateProxyRequest,
  type ExitField,
  type ManagedProxyType,
  type ProxyConfig,
  type ProxyType,
} from '@berth/contracts/proxies'
import { EgressRefusal } from '../../instances/egress/refusal.ts'
import type { EgressPolicy } from '../../instances/egress/policy.ts'
import { readConnectTarget, type Target } from '../../instances/egress/target.ts'
import { invalidInput } from '../../platform/errors/app-error.ts'
import { readCertificates } from './certificates.ts'
import type { Providers } from './providers.ts'
import type { ProxyDefinition } from './types.ts'

/** RFC 1929 has one byte for the length. */
const MAX_SOCKS_BYTES = 255

const customOnly = ['host', 'port', 'username', 'password', 'ca_bundle'] as const

const fieldsOf: Readonly<Record<ProxyType, readonly (keyof CreateProxyConfig)[]>> = {
  custom: customOnly,
  datacenter: ['country'],
  isp: ['country'],
  residential: ['country', 'state', 'city', 'zip', 'asn', 'os'],
  mobile: ['country', 'state', 'city', 'zip', 'asn', 'carrier'],
}

export function defineProxy(
  { type, protocol = 'https', bypass_hosts = [], config = {} }: CreateProxyRequest,
  { policy, providers }: { policy: EgressPolicy; providers: Providers },
): ProxyDefinition {
  for (const name of Object.keys(config) as (keyof CreateProxyConfig)[]) {
    if (!fieldsOf[type].includes(name)) throw invalidInput(`config.${name}`, `is not for ${type} proxies`)
  }
  const bypassHosts = bypass_hosts.map(readBypassHost)
  if (type === 'custom') return { ...defineCustom(config, protocol, policy), bypassHosts }
  return { ...defineManaged(type, config, providers), bypassHosts }
}

function defineCustom(
  config: CreateProxyConfig,
  protocol: ProxyDefinition['protocol'],
  policy: EgressPolicy,
): Omit<ProxyDefinition, 'bypassHosts'> {
  const { port, username, password, ca_bundle } = config
  if (config.host === undefined) throw invalidInput('config.host', 'is required for custom proxies')
  if (port === undefined) throw invalidInput('config.port', 'is required for custom proxies')
  const target = readHost(config.host, port)
  const verdict = policy.judgeTarget(target)
  if (!verdict.allowed) throw invalidInput('config.host', `cannot be used: ${verdict.reason}`)
  checkCredentials(config, protocol)
  if (ca_bundle !== undefined) checkCertificates(ca_bundle)
  return {
    type: 'custom',
    protocol,
    config: {
      host: target.host,
      port,
      has_password: password !== undefined,
      has_ca_bundle: ca_bundle !== undefined,
    },
    credentials: username === undefined ? null : { username, ...(password !== undefined && { password }) },
    caBundle: ca_bundle ?? null,
  }
}

function readHost(host: string, port: number): Target {
  try {
    return readConnectTarget(`${isIP(host) === 6 ? `[${host}]` : host}:${port}`)
  } catch (error) {
    if (!(error instanceof EgressRefusal)) throw error
    throw invalidInput('config.host', 'must be a host name or an address, without scheme, port or path')
  }
}

function checkCredentials(
  { username, password }: Pick<CreateProxyConfig, 'username' | 'password'>,
  protocol: ProxyDefinition['protocol'],
): void {
  if (password !== undefined && username === undefined) {
    throw invalidInput('config.username', 'is required where there is a password')
  }
  if (protocol !== 'socks5') {
    // RFC 7617: the first colon ends the name.
    if (username?.includes(':')) throw invalidInput('config.username', 'must not have a colon')
    return
  }
  for (const [name, value] of Object.entries({ username, password })) {
    if (value !== undefined && Buffer.byteLength(value) > MAX_SOCKS_BYTES) {
      throw invalidInput(`config.${name}`, `must have at most ${MAX_SOCKS_BYTES} bytes for socks5`)
    }
  }
}

function checkCertificates(bundle: string): void {
  if (!readCertificates(bundle)) {
    throw invalidInput('config.ca_bundle', 'must hold one or more certificates in PEM, and nothing else')
  }
}

function defineManaged(
  type: ManagedProxyType,
  asked: CreateProxyConfig,
  providers: Providers,
): Omit<ProxyDefinition, 'bypassHosts'> {
  checkExit(asked)
  const exit: ProxyConfig = { ...asked }
  for (const name of ['country', 'state'] as const) {
    if (exit[name] !== undefined) exit[name] = exit[name].toUpperCase()
  }
  if (exit.city !== undefined) exit.city = exit.city.toLowerCase()
  if (exit.asn !== undefined) exit.asn = exit.asn.replace(/^as/i, '')
  const { protocol, config } = choose(type, exit, providers)
  return { type, protocol, config, credentials: null, caBundle: null }
}

/** Throws for the first value that the operator's proxies do not offer. */
function choose(type: ManagedProxyType, exit: ProxyConfig, providers: Providers) {
  if (!providers.has(type)) {
    throw invalidInput(
      'type',
      `cannot be "${type}": the operator of this server has configured no such proxies (BERTH_PROXY_PROVIDERS); use a custom one`,
    )
  }
  // Default to the US where the operator's proxies offer a country at all.
  const hasUsual = exit.country === undefined && (type === 'datacenter' || type === 'isp')
  for (const config of hasUsual ? [{ ...exit, country: 'US' }, exit] : [exit]) {
    const protocol = providers.find(type, config)?.protocol
    if (protocol) return { protocol, config }
  }
  const { field, choices } = providers.shortcoming(type, exit)
  const by = choices.length > 0 ? `can be chosen by ${choices.join(', ')}` : 'cannot be chosen by anything'
  throw invalidInput(
    field === undefined ? 'config' : `config.${field}`,
    `is not available: the operator's ${type} proxies ${by}, and none matches`,
  )
}

/** Like providers: states and zip codes exist only in the US, and zip or ASN exclude city and state. */
function checkExit(exit: CreateProxyConfig): void {
  const given = (name: ExitField) => exit[name] !== undefined
  const isUs = exit.country?.toUpperCase() === 'US'
  if (given('city') && !given('country')) throw invalidInput('config.city', 'needs a country')
  if (given('state') && !isUs) throw invalidInput('config.state', 'needs the country to be US')
  if (given('zip') && given('country') && !isUs)
    throw invalidInput('config.zip', 'needs the country to be US')
  for (const name of ['zip', 'asn'] as const) {
    if (given(name) && (given('city') || given('state'))) {
      throw invalidInput(`config.${name}`, 'cannot be given together with city or state')
    }
  }
}

/** `a.example` or `*.a.example`, in the canonical form that is used to compare targets. */
function readBypassHost(text: string, index: number): string {
  const refuse = () =>
    invalidInput(
      `bypass_hosts.${index}`,
      'must be a host name or "*." and a domain, without scheme, port, path or address',
    )
  const prefix = text.startsWith('*.') ? '*.' : ''
  const host = text.slice(prefix.length)
  if (/[:*[\]]/.test(host)) throw refuse()
  try {
    const canonical = readConnectTarget(`${host}:1`).host
    if (isIP(canonical) !== 0) throw refuse()
    return prefix + canonical
  } catch (error) {
    if (error instanceof EgressRefusal) throw refuse()
    throw error
  }
}
