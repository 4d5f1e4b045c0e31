// Chooses the egress route of sessions, at their creation and after a change.
import type { CreateBrowserRequest, UpdateBrowserRequest } from '@berth/contracts/browsers'
import type { SessionExtra, ExtraSource, LookUp } from '../browsers/extras.ts'
import type { SessionProxyChanges } from '../browsers/service.ts'
import type { BrowserRecord, NewBrowser, ProxyChange } from '../browsers/types.ts'
import type { Db } from '../../platform/database/schema.ts'
import { DIRECT, type EgressRoute } from '../../instances/egress/route.ts'
import { invalidInput } from '../../platform/errors/app-error.ts'
import { findProxy, holdProxy } from './store.ts'
import type { ProxyUpstreams } from './upstreams.ts'

/** The parts of a session that decide its route. */
interface Routed {
  readonly projectId: string
  readonly proxyId: string | null
  readonly stealth: boolean
  readonly isDefaultProxyDisabled: boolean
}

export class SessionProxies implements ExtraSource, SessionProxyChanges {
  readonly #db: Db
  readonly #upstreams: ProxyUpstreams

  constructor({ db, upstreams }: { db: Db; upstreams: ProxyUpstreams }) {
    this.#db = db
    this.#upstreams = upstreams
  }

  async extraFor(
    _body: CreateBrowserRequest,
    browser: NewBrowser,
    { db }: Pick<LookUp, 'db'>,
  ): Promise<SessionExtra | undefined> {
    const { projectId, proxyId, stealth } = browser
    if (proxyId === null && !stealth) return undefined
    const route = await this.#find({ projectId, proxyId, stealth, isDefaultProxyDisabled: false }, db)
    if (route.kind === 'direct') return undefined
    return {
      needsStart: false,
      bring: ({ instance }) => {
        instance.setRoute(route)
        return Promise.resolve()
      },
      keep: (tx) => this.hold(tx, projectId, { proxyId }),
    }
  }

  async countryOf(
    db: Db,
    { proxy_id: id }: CreateBrowserRequest,
    projectId: string,
  ): Promise<string | undefined> {
    return id ? (await findProxy(db, projectId, id))?.config.country : undefined
  }

  /** The route for a session's row. When this throws, the session's traffic must be blocked. */
  routeOf(record: BrowserRecord): Promise<EgressRoute> {
    return this.#find(toRouted(record))
  }

  /** Undefined when nothing changes. Throws for an impossible change. */
  async changeOf(record: BrowserRecord, body: UpdateBrowserRequest): Promise<ProxyChange | undefined> {
    const { proxy_id, disable_default_proxy: isDisabled } = body
    const hasProxy = proxy_id !== undefined && proxy_id !== null
    if (isDisabled !== undefined && hasProxy) {
      throw invalidInput('disable_default_proxy', 'cannot be given together with proxy_id')
    }
    if (isDisabled === true && !record.stealth) {
      throw invalidInput(
        'disable_default_proxy',
        'is only for stealth sessions: others have no default proxy',
      )
    }
    const before = toRouted(record)
    const change: ProxyChange = {
      ...(hasProxy && { proxyId: proxy_id || null }),
      ...(isDisabled !== undefined && { isDefaultProxyDisabled: isDisabled }),
    }
    const after = { ...before, ...change }
    const isSame =
      after.proxyId === before.proxyId && after.isDefaultProxyDisabled === before.isDefaultProxyDisabled
    if (isSame) return undefined
    // Refuse an unavailable proxy before anything changes.
    await this.#find(after)
    return change
  }

  /** Locks the proxy in the transaction that makes a session use it, so that nobody deletes it in between. */
  async hold(tx: Db, projectId: string, { proxyId }: ProxyChange): Promise<void> {
    if (proxyId && !(await holdProxy(tx, projectId, proxyId))) throw noSuchProxy()
  }

  async #find(
    { projectId, proxyId, stealth, isDefaultProxyDisabled }: Routed,
    db = this.#db,
  ): Promise<EgressRoute> {
    if (proxyId !== null) {
      const record = await findProxy(db, projectId, proxyId)
      if (!record || record.deleted_at) throw noSuchProxy()
      return { kind: 'proxy', proxy: this.#upstreams.of(record), bypassHosts: record.bypass_hosts }
    }
    const usual = stealth && !isDefaultProxyDisabled ? this.#upstreams.stealthDefault : undefined
    return usual ? { kind: 'proxy', proxy: usual, bypassHosts: [] } : DIRECT
  }
}

function toRouted(record: BrowserRecord): Routed {
  return {
    projectId: record.project_id,
    proxyId: record.proxy_id,
    stealth: record.stealth,
    isDefaultProxyDisabled: record.is_default_proxy_disabled,
  }
}

function noSuchProxy() {
  return invalidInput('proxy_id', 'names no proxy of the project of the session')
}
