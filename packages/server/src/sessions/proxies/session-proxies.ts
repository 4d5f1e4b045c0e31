// Chooses the egress route of sessions, at their creation and after a change.
import type { CreateBrowserRequest, UpdateBrowserRequest } from '@berth/contracts/browsers'
import type { SessionExtra, ExtraSource, LookUp } from '../browsers/extras.ts'
import type { SessionProxyChanges } from '../browsers/service.ts'
import type { BrowserRecord, NewBrowser, ProxyChange } from '../browsers/types.ts'
import type { Db } from '../../platform/database/schema.ts'
import { DIRECT, type EgressRoute } from '../../instances/egress/route.ts'
import { invalidInput } from '../../platform/errors/app-error.ts'
import { choiceAtCreation, choiceAtUpdate, type IdOfName } from './choice.ts'
import { checkPrivateHosts } from './private-hosts.ts'
import { certificatesIn } from './certificates.ts'
import { findProxiesNamed, findProxy, holdProxy, namesOf } from './store.ts'
import type { ProxyUpstreams } from './upstreams.ts'

/** The parts of a session that decide its route. */
interface Routed {
  readonly projectId: string
  readonly proxyId: string | null
  readonly stealth: boolean
  readonly isDefaultProxyDisabled: boolean
  readonly privateHosts: readonly string[] | null
}

export class SessionProxies implements ExtraSource, SessionProxyChanges {
  readonly #db: Db
  readonly #upstreams: ProxyUpstreams

  constructor({ db, upstreams }: { db: Db; upstreams: ProxyUpstreams }) {
    this.#db = db
    this.#upstreams = upstreams
  }

  async extraFor(
    body: CreateBrowserRequest,
    browser: NewBrowser,
    { db }: Pick<LookUp, 'db'>,
  ): Promise<SessionExtra | undefined> {
    const { projectId, proxyId, stealth, privateHosts } = browser
    if (proxyId === null && !stealth && privateHosts === null) return undefined
    const route = await this.#find(browser, { db, field: fieldOf(body) })
    if (route === DIRECT) return undefined
    return {
      needsStart: false,
      bring: ({ instance }) => {
        instance.setRoute(route)
        return Promise.resolve()
      },
      keep: (tx) => this.hold(tx, projectId, { proxyId }),
    }
  }

  /** What a request to create a session says about its network. Throws when it is invalid. */
  async choiceFor(
    db: Db,
    body: CreateBrowserRequest,
    projectId: string,
  ): Promise<Pick<NewBrowser, 'proxyId' | 'isDefaultProxyDisabled' | 'privateHosts'>> {
    const privateHosts = body.network?.private_hosts ?? null
    checkPrivateHosts(privateHosts ?? [])
    return { ...(await choiceAtCreation(body, idOfNameIn(db, projectId))), privateHosts }
  }

  async countryOf(db: Db, proxyId: string, projectId: string): Promise<string | undefined> {
    return (await findProxy(db, projectId, proxyId))?.config.country
  }

  /**
   * The certificate authorities that a session with this proxy trusts for websites too, in base64: without them, a proxy
   * that decrypts TLS could not show a page.
   */
  async authoritiesOf(
    db: Db,
    { projectId, proxyId }: Pick<NewBrowser, 'projectId' | 'proxyId'>,
  ): Promise<readonly string[]> {
    const record = proxyId === null ? undefined : await findProxy(db, projectId, proxyId)
    const bundle = record && !record.deleted_at ? this.#upstreams.caBundleOf(record) : undefined
    return bundle === undefined ? [] : certificatesIn(bundle)
  }

  /** Those that have a name, by proxy id. */
  namesOf(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return namesOf(db, ids)
  }

  /** The route for a session's row. When this throws, the session's traffic must be blocked. */
  routeOf(record: BrowserRecord): Promise<EgressRoute> {
    return this.#find(toRouted(record))
  }

  /** Undefined when nothing changes. Throws for an impossible change. */
  async changeOf(record: BrowserRecord, body: UpdateBrowserRequest): Promise<ProxyChange | undefined> {
    const idOfName = idOfNameIn(this.#db, record.project_id)
    const change = await choiceAtUpdate(body, { isStealth: record.stealth, idOfName })
    if (!change) return undefined
    const before = toRouted(record)
    const after = { ...before, ...change }
    const isSame =
      after.proxyId === before.proxyId && after.isDefaultProxyDisabled === before.isDefaultProxyDisabled
    if (isSame) return undefined
    // Refuse an unavailable proxy before anything changes.
    await this.#find(after, { field: fieldOf(body) })
    return change
  }

  /** Locks the proxy in the transaction that makes a session use it, so that nobody deletes it in between. */
  async hold(tx: Db, projectId: string, { proxyId }: ProxyChange): Promise<void> {
    if (proxyId && !(await holdProxy(tx, projectId, proxyId))) throw noSuchProxy('proxy_id')
  }

  async #find(
    { projectId, proxyId, stealth, isDefaultProxyDisabled, privateHosts: listed }: Routed,
    { db = this.#db, field = 'proxy_id' }: { db?: Db; field?: ProxyField } = {},
  ): Promise<EgressRoute> {
    const privateHosts = listed ?? undefined
    if (proxyId !== null) {
      const record = await findProxy(db, projectId, proxyId)
      if (!record || record.deleted_at) throw noSuchProxy(field)
      const proxy = this.#upstreams.of(record)
      return { kind: 'proxy', proxy, bypassHosts: record.bypass_hosts, privateHosts }
    }
    const usual = stealth && !isDefaultProxyDisabled ? this.#upstreams.stealthDefault : undefined
    if (usual) return { kind: 'proxy', proxy: usual, bypassHosts: [], privateHosts }
    return privateHosts ? { kind: 'direct', privateHosts } : DIRECT
  }
}

function toRouted(record: BrowserRecord): Routed {
  return {
    projectId: record.project_id,
    proxyId: record.proxy_id,
    stealth: record.stealth,
    isDefaultProxyDisabled: record.is_default_proxy_disabled,
    privateHosts: record.private_hosts,
  }
}

function idOfNameIn(db: Db, projectId: string): IdOfName {
  return async (name) => {
    const [first, second] = await findProxiesNamed(db, projectId, name)
    if (!first) throw invalidInput('proxy.name', 'names no proxy of the project of the session')
    if (second) throw invalidInput('proxy.name', 'names several proxies of the project; use the id of one')
    return first
  }
}

type ProxyField = 'proxy_id' | 'proxy.id'

function fieldOf({ proxy }: Pick<UpdateBrowserRequest, 'proxy'>): ProxyField {
  return proxy ? 'proxy.id' : 'proxy_id'
}

function noSuchProxy(field: ProxyField) {
  return invalidInput(field, 'names no proxy of the project of the session')
}
