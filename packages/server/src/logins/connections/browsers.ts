// The browser sessions of logins and health checks. They are created like any other session, with the connection's
// profile, and their owner sees them in the list.
import type { Pool } from 'pg'
import type { ProxyMode } from '@berth/contracts/proxies'
import type { CreateBrowserRequest } from '@berth/contracts/browsers'
import type { TelemetryRequest } from '@berth/contracts/telemetry'
import { findBrowserById } from '../../sessions/browsers/store.ts'
import type { BrowserService } from '../../sessions/browsers/service.ts'
import { SessionEnded, type Session } from '../../sessions/session/session.ts'
import type { Sessions } from '../../sessions/browsers/sessions.ts'
import type { Db } from '../../platform/database/schema.ts'
import { inTransaction } from '../../platform/database/transaction.ts'
import type { Commit } from '../../http/call.ts'
import type { Age } from '../../sessions/telemetry/selection.ts'
import * as flows from './flow-store.ts'
import type { FlowRecord } from './types.ts'

/** Ends a session without a user, for example after a kill. A working flow keeps it alive. */
const TIMEOUT_SECONDS = 120
/** Small, because software paints it; wide enough for the pages that websites make for computers. */
const VIEWPORT = { width: 1_024, height: 768 }

export interface WantedBrowser {
  readonly projectId: string
  readonly profileId: string
  readonly stealth: boolean
  readonly proxyId: string | null
  readonly proxyMode: ProxyMode | null
  readonly isRecorded: boolean
  readonly telemetry: TelemetryRequest | null
  readonly telemetryAge: Age
}

/** As its connection or its flow says it. */
export function browserOf(
  row: Pick<FlowRecord, 'stealth' | 'proxy_id' | 'proxy_mode' | 'telemetry' | 'telemetry_age'>,
): Pick<WantedBrowser, 'stealth' | 'proxyId' | 'proxyMode' | 'telemetry' | 'telemetryAge'> {
  return {
    stealth: row.stealth,
    proxyId: row.proxy_id,
    proxyMode: row.proxy_mode,
    telemetry: row.telemetry,
    telemetryAge: row.telemetry_age,
  }
}

export interface MadeBrowser {
  readonly id: string
  readonly telemetryCaptured: boolean
}

export interface LoginBrowsersOptions {
  readonly db: Db
  readonly pool: Pool
  readonly browsers: Pick<BrowserService, 'create' | 'end'>
  readonly sessions: Pick<Sessions, 'find'>
  /** False when the host has no X server; such a session has no stealth either. */
  readonly hasScreens: () => boolean
}

export class LoginBrowsers {
  readonly #options: LoginBrowsersOptions

  constructor(options: LoginBrowsersOptions) {
    this.#options = options
  }

  /** `keep` runs in the transaction that makes the session visible; if it throws, the session ends. */
  async create(
    wanted: WantedBrowser,
    keep: (tx: Db, made: MadeBrowser) => Promise<void>,
    signal: AbortSignal,
  ): Promise<Session> {
    const { browsers, pool, sessions, hasScreens } = this.#options
    const isSeen = hasScreens()
    const stealth = isSeen && wanted.stealth
    const body: CreateBrowserRequest = {
      profile: { id: wanted.profileId },
      headless: !isSeen,
      stealth,
      // Without tabs and an address bar: the person with the link gets the page of the login and no more.
      ...(isSeen && { kiosk_mode: true }),
      viewport: VIEWPORT,
      timeout_seconds: TIMEOUT_SECONDS,
      // Replaces the pages that the profile had open.
      start_url: 'about:blank',
      ...proxyOf(wanted, { stealth }),
      ...(wanted.isRecorded && { record: {} }),
      ...(wanted.telemetry && { telemetry: wanted.telemetry }),
    }
    const caller = {
      principal: {
        keyId: '',
        projectId: wanted.projectId,
        isProjectArchived: false,
        creator: { id: '', name: null, email: '' },
      },
      projectId: null,
      origin: '',
      telemetryAge: wanted.telemetryAge,
    }
    const commit: Commit = (work) =>
      inTransaction(pool, async ({ db: tx }) => {
        const shown = await work(tx)
        // SAFETY: this is the commit of that one operation.
        const { session_id, telemetry } = shown as { session_id: string; telemetry?: unknown }
        await keep(tx, { id: session_id, telemetryCaptured: telemetry !== undefined })
        return shown
      })
    const { session_id: id } = await browsers.create(caller, body, { commit, signal })
    const session = await sessions.find(id)
    if (!session) throw new SessionEnded('crashed')
    return session
  }

  /** Finds an existing session; undefined when it has ended. */
  async find(id: string): Promise<Session | undefined> {
    const session = await this.#options.sessions.find(id)
    return session?.ending.aborted ? undefined : session
  }

  /** `first` runs in the transaction that ends the session. Resolves when the row has ended. */
  async end(id: string, first?: (tx: Db) => Promise<void>): Promise<void> {
    const { db, pool, browsers } = this.#options
    const record = await findBrowserById(db, id)
    if (!record) return
    await browsers.end(record, 'deleted', (work) => inTransaction(pool, ({ db: tx }) => work(tx)), first)
  }

  /** Ends the session and saves its profile, in one transaction. */
  async endSaved(
    id: string,
    { onConflict, first }: { onConflict: 'replace' | 'keep'; first?: (tx: Db) => Promise<void> },
  ): Promise<void> {
    await this.end(id, async (tx) => {
      await first?.(tx)
      if (!(await flows.saveAtEnd(tx, id, { onConflict }))) throw new SessionEnded('deleted')
    })
  }
}

function proxyOf(
  { proxyId, proxyMode }: Pick<WantedBrowser, 'proxyId' | 'proxyMode'>,
  { stealth }: { stealth: boolean },
): Pick<CreateBrowserRequest, 'proxy'> {
  if (proxyId !== null) return { proxy: { id: proxyId } }
  // Only stealth sessions have a default proxy.
  return stealth && proxyMode !== null ? { proxy: { mode: proxyMode } } : {}
}
