// Decides what an instance may reach. Only the public internet is open; everything private, special or
// unknown is closed unless BERTH_EGRESS_ALLOW lists it:
// - a CIDR opens its addresses on every port but the denied ones, directly or through a name;
// - a `name:port` may also resolve to private addresses, on that port;
// - 127.0.0.0/8 makes loopback names and addresses mean the host's own. A DNS name that resolves to
//   loopback stays refused even then: otherwise an internet page could act as a page of the host;
// - host.berth.internal is the host's loopback and needs its own entry.
import { classify, parseAddress, type ClassifiedAddress } from './address.ts'
import { AllowList } from './allow-list.ts'
import { newOwnAddresses } from './own-addresses.ts'
import type { Target } from './target.ts'

export type Verdict = { readonly allowed: true } | { readonly allowed: false; readonly reason: string }

export interface EgressPolicyOptions {
  /** The entries of BERTH_EGRESS_ALLOW, or of the setting that `listedIn` names. */
  readonly allow: readonly string[]
  /** The setting that a refusal names. */
  readonly listedIn?: string
  /** Closed even where the address is open, unless an entry names the host with this port. */
  readonly deniedPorts?: readonly number[]
  /** Addresses of this machine: connections to them never leave it, so no firewall sees them. */
  readonly ownAddresses?: () => ReadonlySet<string>
}

const HOST_NAME = 'host.berth.internal'
const HOST_LOOPBACK = ['127.0.0.1', '::1']
const SMTP_PORT = 25
const ALLOWED: Verdict = { allowed: true }

/** What a listed name may resolve to. Everything else, above all metadata services, needs a listed CIDR. */
const LISTED_NAME_KINDS = new Set(['unicast', 'private', 'uniqueLocal', 'carrierGradeNat', 'loopback'])

export class EgressPolicy {
  readonly #options: EgressPolicyOptions
  readonly #allowList: AllowList
  readonly #deniedPorts: ReadonlySet<number>
  readonly #ownAddresses: () => ReadonlySet<string>

  constructor(options: EgressPolicyOptions) {
    const { allow, deniedPorts = [SMTP_PORT], ownAddresses = newOwnAddresses() } = options
    this.#options = options
    this.#allowList = new AllowList(allow)
    this.#deniedPorts = new Set(deniedPorts)
    this.#ownAddresses = ownAddresses
  }

  /** The same policy with more entries. */
  with(allow: readonly string[]): EgressPolicy {
    return allow.length === 0
      ? this
      : new EgressPolicy({ ...this.#options, allow: [...this.#options.allow, ...allow] })
  }

  /** The same policy without entries. */
  publicOnly(): EgressPolicy {
    return new EgressPolicy({ ...this.#options, allow: [] })
  }

  /** Every check that is possible before a name is resolved; applies to all upstreams. */
  judgeTarget({ host, port }: Target): Verdict {
    if (parseAddress(host)) return this.judgeAddress(host, port)
    const listing = this.#allowList.listingOf(host, port)
    if (this.#deniedPorts.has(port) && listing !== 'exact') return denied(`port ${port} is denied`)
    if (listing !== 'none') return ALLOWED
    if (host === HOST_NAME) {
      const { listedIn = 'BERTH_EGRESS_ALLOW' } = this.#options
      return denied(`"${HOST_NAME}:${port}" is not listed in ${listedIn}`)
    }
    if (!isLoopbackName(host)) return ALLOWED
    const isOpen = HOST_LOOPBACK.some((address) => this.judgeAddress(address, port).allowed)
    return isOpen ? ALLOWED : denied('it names loopback')
  }

  /** Whether the target is open without any entry, as far as is known before its name is resolved. */
  isOpenToAll(target: Target): boolean {
    if (this.#allowList.listingOf(target.host, target.port) !== 'none') return false
    return this.publicOnly().judgeTarget(target).allowed
  }

  /** The addresses of a name that DNS does not resolve. */
  fixedAddresses(host: string): readonly string[] | undefined {
    return host === HOST_NAME || isLoopbackName(host) ? HOST_LOOPBACK : undefined
  }

  /** Whether no entry is about the name, and all its addresses are open to all. Others must not be known inside. */
  isPublic(name: string, addresses: readonly string[]): boolean {
    if (this.#allowList.hasHost(name)) return false
    return addresses.every((address) => {
      const ip = parseAddress(address)
      return ip && classify(ip).every((part) => part.kind === 'unicast' && this.#isOpen(part))
    })
  }

  /** Whether this machine reaches others over IPv6 only. */
  get isIpv6Only(): boolean {
    const ranges = [...this.#ownAddresses()].flatMap((address) => {
      const ip = parseAddress(address)
      return ip ? [{ version: ip.kind(), range: ip.range() }] : []
    })
    const others = ranges.filter(({ range }) => range !== 'loopback' && range !== 'linkLocal')
    return others.length > 0 && others.every(({ version }) => version === 'ipv6')
  }

  isListedName({ host, port }: Target): boolean {
    return this.#allowList.listingOf(host, port) !== 'none'
  }

  /** Checks an address that the request itself names. */
  judgeAddress(address: string, port: number): Verdict {
    const ip = parseAddress(address)
    if (!ip) return denied('its address cannot be understood')
    const listing = this.#allowList.listingOf(ip.toString(), port)
    if (this.#deniedPorts.has(port) && listing !== 'exact') return denied(`port ${port} is denied`)
    if (listing !== 'none') return ALLOWED
    const closed = classify(ip).find((part) => !this.#isOpen(part))
    return closed ? denied(`it is ${describe(closed)}`) : ALLOWED
  }

  /** Checks an address that the target's name resolved to; judgeTarget has checked name and port. */
  judgeResolved(target: Target, address: string): Verdict {
    const ip = parseAddress(address)
    if (!ip) return denied('its address cannot be understood')
    const isListed = this.isListedName(target)
    const isAddressListed = this.#allowList.listingOf(ip.toString(), target.port) !== 'none'
    const closed = classify(ip).find((part) => {
      if (isListed) return !LISTED_NAME_KINDS.has(part.kind) && !this.#allowList.hasAddress(part.ip)
      if (part.kind === 'loopback' && !isLoopbackName(target.host)) return true
      return !isAddressListed && !this.#isOpen(part)
    })
    // The address itself is left out: it would reveal the host's network to the instance.
    return closed ? denied(`it resolves to ${describe(closed)}`) : ALLOWED
  }

  #isOpen({ ip, kind }: ClassifiedAddress): boolean {
    if (this.#allowList.hasAddress(ip)) return true
    return kind === 'unicast' && !this.#ownAddresses().has(ip.toString())
  }
}

function describe({ kind }: ClassifiedAddress): string {
  if (kind === 'unicast') return 'an address of the host'
  const words = kind.replace(/([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`)
  return `an address that is not public (${words})`
}

function isLoopbackName(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost')
}

function denied(reason: string): Verdict {
  return { allowed: false, reason }
}
