// What leaves one instance: judged by the policy, over the route that is set at the moment.
import type { Duplex } from 'node:stream'
import type { Logger } from 'pino'
import type { Openings } from './openings.ts'
import type { EgressPolicy } from './policy.ts'
import { RecentFailures, type Failure } from './recent-failures.ts'
import { deniedBecause, toRefusal, type EgressRefusal } from './refusal.ts'
import { GivenNames } from './given-names.ts'
import { DIRECT, upstreamFor, type EgressRoute } from './route.ts'
import type { Target } from './target.ts'
import type { DirectUpstream, RequestConnection, Upstream } from './upstream.ts'

export interface OutgoingOptions {
  readonly policy: EgressPolicy
  /** Connects directly from this host, under the policy. Closed together with this. */
  readonly direct: DirectUpstream
  readonly route: EgressRoute
  readonly log: Logger
}

/** The upstream in use, and the signal that fires when another replaces it. */
interface ActiveUpstream {
  readonly upstream: Upstream
  readonly replaced: AbortController
}

type Open = (upstream: Upstream, signal: AbortSignal) => Promise<RequestConnection>

export class Outgoing {
  /** The policy of all instances; `#policy` may open more. */
  readonly #commonPolicy: EgressPolicy
  #policy: EgressPolicy
  readonly #commonDirect: DirectUpstream
  #direct: DirectUpstream
  #active: ActiveUpstream
  #isRouteDecided: boolean
  readonly #given = new GivenNames()
  readonly #failures = new RecentFailures()
  #toApi: Openings['toApi']
  #lastRefusal: string | undefined
  readonly #log: Logger
  /** Connections to targets. One may outlive the instance's connection while its last bytes are read. */
  readonly #streams = new Set<Duplex>()

  constructor({ policy, direct, route, log }: OutgoingOptions) {
    this.#commonPolicy = policy
    this.#policy = policy
    this.#commonDirect = direct
    this.#direct = direct
    this.#isRouteDecided = route.kind !== 'closed'
    this.#active = { upstream: upstreamFor(route, direct), replaced: new AbortController() }
    this.#log = log
  }

  get lastRefusal(): string | undefined {
    return this.#lastRefusal
  }

  /** Receives connections to our own API, if this instance may reach it. */
  get toApi(): Openings['toApi'] {
    return this.#toApi
  }

  /** Applies at once: connections of the old route are cut, and new ones use the new route. */
  setRoute(route: EgressRoute): void {
    this.setUpstream(upstreamFor(route, this.#direct))
  }

  setUpstream(upstream: Upstream): void {
    const { replaced } = this.#active
    this.#isRouteDecided = true
    this.#active = { upstream, replaced: new AbortController() }
    replaced.abort(new Error('The egress route changed'))
    for (const stream of this.#streams) stream.destroy()
  }

  /** Opens more than all instances may reach, directly from this host; existing connections are cut. */
  open({ allow, toApi }: Openings): void {
    this.#policy = this.#commonPolicy.with(allow)
    this.#direct = this.#commonDirect.under(this.#policy)
    this.#toApi = toApi
    this.setRoute(DIRECT)
  }

  close(): void {
    for (const stream of this.#streams) stream.destroy()
    this.#commonDirect.close()
  }

  async connect(target: Target, signal: AbortSignal): Promise<Duplex> {
    const open: Open = async (upstream, given) => ({ stream: await upstream.connect(target, given) })
    return (await this.#judged(target, signal, open)).stream
  }

  /** For one plain HTTP request. */
  connectForRequest(target: Target, signal: AbortSignal): Promise<RequestConnection> {
    return this.#judged(target, signal, (upstream, given) => upstream.connectForRequest(target, given))
  }

  /** Whether plain HTTP goes to a proxy request by request, so that no connection can be opened before the first. */
  takesRequests(target: Target): boolean {
    return this.#active.upstream.takesRequests?.(target) ?? false
  }

  /** False from the start of a server until somebody has looked the session's route up, found or not. */
  get isRouteDecided(): boolean {
    return this.#isRouteDecided
  }

  /** See Upstream. A name that a proxy resolves is taken to exist. */
  async addressesOf(name: string, signal: AbortSignal): Promise<readonly string[]> {
    try {
      const addresses = (await this.#active.upstream.addressesOf?.(name, signal)) ?? []
      this.#given.remember(name, addresses)
      return addresses
    } catch (error) {
      this.#failures.remember({ host: name }, toRefusal(error, name))
      throw error
    }
  }

  /** Why a connection to this target has just failed; undefined when none has. */
  failureAt(target: Target): Failure | undefined {
    return this.#failures.find(target)
  }

  /** What to connect to when a program names an address: the name that it got the address for, if a proxy resolves names. */
  asNamed(target: Target): Target {
    if (this.#active.upstream === this.#direct) return target
    return { ...target, host: this.#given.nameOf(target.host) ?? target.host }
  }

  async #judged(target: Target, signal: AbortSignal, open: Open): Promise<RequestConnection> {
    const { host, port } = target
    try {
      const verdict = this.#policy.judgeTarget(target)
      if (!verdict.allowed) throw deniedBecause(target, verdict.reason)
      const connection = await this.#open(signal, open)
      this.#log.debug({ host, port }, 'egress connected')
      return connection
    } catch (error) {
      const refusal = toRefusal(error, host)
      this.#lastRefusal = refusal.message
      this.#log.debug({ host, port, code: refusal.code, reason: refusal.message }, 'egress refused')
      this.#rememberFailure(target, refusal)
      throw refusal
    }
  }

  /** A browser knows the name, also where it connects to an address. */
  #rememberFailure({ host, port }: Target, refusal: EgressRefusal): void {
    this.#failures.remember({ host, port }, refusal)
    const name = this.#given.nameOf(host)
    if (name !== undefined) this.#failures.remember({ host: name, port }, refusal)
  }

  /** If the upstream is replaced while connecting, tries the new one: nothing was sent yet. */
  async #open(signal: AbortSignal, open: Open): Promise<RequestConnection> {
    for (;;) {
      const active = this.#active
      try {
        const connection = await open(active.upstream, AbortSignal.any([signal, active.replaced.signal]))
        const { stream } = connection
        stream.on('error', () => undefined)
        if (signal.aborted || active !== this.#active) stream.destroy()
        else {
          // Added before anything else can run, so that the next route change finds it.
          this.#streams.add(stream)
          stream.once('close', () => this.#streams.delete(stream))
          return connection
        }
      } catch (error) {
        if (active === this.#active) throw error
      }
      signal.throwIfAborted()
    }
  }
}
