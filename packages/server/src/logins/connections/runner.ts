// Runs this server's login flows: starts them when their row says so, passes changes on, and resumes or ends them after
// a restart. Any server ends the flows of servers that never come back.
import type { Logger } from 'pino'
import { crashPoint } from '../../platform/errors/crash-point.ts'
import { inTransaction } from '../../platform/database/transaction.ts'
import { endFlow, type FlowEnd } from './flow-ends.ts'
import { expire, FlowRun, type FlowRunOptions } from './flow-run.ts'
import * as flows from './flow-store.ts'
import type { FlowSettling } from './settling.ts'
import * as store from './store.ts'
import { isOver } from './transitions.ts'
import type { FlowRecord } from './types.ts'

const RECONCILE_MS = 10_000
/** Added to the lease, as for sessions: a server that was silent for this long runs nothing any more. */
const LOST_MARGIN_SECONDS = 30

const brokenOff: FlowEnd = {
  error_code: 'internal_error',
  error_message: 'The server stopped while something was being submitted; begin the login again',
}
const lost: FlowEnd = {
  error_code: 'browser_error',
  error_message: 'The browser session of the login was lost; begin the login again',
}

export interface FlowRunnerOptions extends FlowRunOptions {
  readonly serverId: string
  readonly leaseSeconds: number
  readonly settling: FlowSettling
  readonly log: Logger
}

export class FlowRunner {
  readonly #options: FlowRunnerOptions
  /** By connection id; a connection has at most one. */
  readonly #runs = new Map<string, { readonly run: FlowRun; readonly over: Promise<void> }>()
  readonly #tails = new Set<Promise<void>>()
  readonly #closing = new AbortController()
  #timer: NodeJS.Timeout | undefined

  constructor(options: FlowRunnerOptions) {
    this.#options = options
  }

  get count(): number {
    return this.#runs.size
  }

  /** Call it after sessions are resumed: continues the flows of an earlier run, unless their state is unknown. */
  async resume(): Promise<void> {
    const { db, serverId, log } = this.#options
    this.#timer = setInterval(() => void this.#reconcile(), RECONCILE_MS).unref()
    for (const flow of await flows.listFlowsOf(db, serverId)) {
      await this.#takeUp(flow).catch((error: unknown) =>
        log.warn({ err: error, flowId: flow.id }, 'cannot resume a login flow'),
      )
    }
  }

  async #takeUp(flow: FlowRecord): Promise<void> {
    const { browsers } = this.#options
    if (flow.state === 'SAVING') return this.#settle(flow)
    // It was submitted, and nobody knows whether the site received it.
    if (flow.state === 'SUBMITTING' && flow.submission === null) return this.#end(flow.id, brokenOff, flow)
    const session = flow.browser_id === null ? undefined : await browsers.find(flow.browser_id)
    if (flow.browser_id !== null && !session) return this.#end(flow.id, lost)
    await this.#begin(flow)
  }

  /** Called when any server changed a connection's flow. */
  async changed(connectionId: string, serverId: string | undefined): Promise<void> {
    const { db, serverId: here, log } = this.#options
    const running = this.#runs.get(connectionId)
    if (running) await running.run.changed()
    if (serverId !== here) return
    try {
      const connection = await store.findConnection(db, null, connectionId)
      const flow = connection?.flow_id == null ? undefined : await flows.findFlow(db, connection.flow_id)
      if (flow?.server_id === here && !isOver(flow)) await this.#begin(flow)
    } catch (error) {
      log.warn({ err: error, connectionId }, 'cannot read the state of a login flow yet')
    }
  }

  async #begin(flow: FlowRecord): Promise<void> {
    const { db, log } = this.#options
    const { id, connection_id: connectionId } = flow
    const before = this.#runs.get(connectionId)
    if (before?.run.id === id || flow.state === 'SAVING' || this.#closing.signal.aborted) return
    const connection = await store.findConnection(db, null, connectionId)
    if (!connection || this.#runs.get(connectionId)?.run.id === id) return
    const run = new FlowRun(flow, connection, this.#options)
    log.info({ flowId: id, connectionId, type: flow.type }, 'login flow started')
    const over = run.run().finally(() => {
      if (this.#runs.get(connectionId)?.run === run) this.#runs.delete(connectionId)
    })
    this.#runs.set(connectionId, { run, over })
  }

  #settle({ id, browser_id: sessionId, connection_id }: FlowRecord): void {
    const { db, settling, log } = this.#options
    const wait = async () => {
      const connection = await store.findConnection(db, null, connection_id)
      if (!connection || sessionId === null) return settling.settle(id)
      const { profile_id: profileId } = connection
      await settling.whenSaved(id, { sessionId, profileId }, this.#closing.signal)
    }
    const tail = wait()
      .catch((error: unknown) => log.warn({ err: error, flowId: id }, 'cannot settle a login flow yet'))
      .finally(() => this.#tails.delete(tail))
    this.#tails.add(tail)
  }

  async #end(flowId: string, end: FlowEnd, { browser_id }: Partial<FlowRecord> = {}): Promise<void> {
    const { pool, browsers } = this.#options
    await inTransaction(pool, ({ db: tx }) => endFlow(tx, flowId, 'fails', end))
    crashPoint('login-flow-given-up')
    if (browser_id) await browsers.end(browser_id)
  }

  /** Compares rows with reality at intervals: finds missed changes and what other servers left. */
  async #reconcile(): Promise<void> {
    const { db, pool, serverId, leaseSeconds, settling, log } = this.#options
    try {
      for (const flow of await flows.listFlowsOf(db, serverId)) {
        await this.changed(flow.connection_id, flow.server_id)
      }
      for (const id of await flows.listExpired(db)) await inTransaction(pool, ({ db: tx }) => expire(tx, id))
      for (const id of await flows.listSettled(db)) await settling.settle(id)
      for (const flow of await flows.listOfLostServers(db, leaseSeconds + LOST_MARGIN_SECONDS)) {
        // settling.ts finds out whether it was saved.
        if (flow.state !== 'SAVING') await this.#end(flow.id, lost)
      }
    } catch (error) {
      log.warn({ err: error }, 'cannot reconcile login flows')
    }
  }

  /** Ends flows together with their sessions; otherwise leaves them to the next server. */
  async close({ endAll }: { endAll: boolean }): Promise<void> {
    clearInterval(this.#timer)
    const runs = [...this.#runs.values()]
    if (endAll) {
      await Promise.all(runs.map(({ run }) => this.#end(run.id, stopped).catch(() => {})))
      await Promise.all(runs.map(({ run }) => run.changed()))
    } else {
      for (const { run } of runs) run.leave()
    }
    this.#closing.abort()
    await Promise.all([...runs.map(({ over }) => over), ...this.#tails])
  }
}

const stopped: FlowEnd = {
  error_code: 'browser_error',
  error_message: 'The server was stopped; begin the login again',
}
