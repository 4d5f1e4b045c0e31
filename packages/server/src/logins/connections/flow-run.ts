// Runs one login flow on this server, from its row to its end. The engine's reports are stored in order; a submission
// on any server arrives through the row. The end of the session saves the profile, and only a saved profile makes the
// flow a success.
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { pause } from '@berth/kit/pause'
import { BrowserUnavailable } from '@berth/login/run/page-actions'
import type {
  ImportedSession,
  LoginOutcome,
  PasskeyNews,
  PasskeyWishes,
  Question,
  RunState,
  Submission,
} from '@berth/login/run/run'
import { SessionEnded, type Session } from '../../sessions/session/session.ts'
import { crashPoint } from '../../platform/errors/crash-point.ts'
import type { CredentialResolver } from '../credentials/resolver.ts'
import type { Db } from '../../platform/database/schema.ts'
import { inTransaction } from '../../platform/database/transaction.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { SealedBox } from '../../platform/secrets/sealed-box.ts'
import { AgentError } from '../../instances/agent/errors.ts'
import { findImport, placeOfImport } from '../imports/store.ts'
import { browserOf, type LoginBrowsers } from './browsers.ts'
import type { LoginEngine } from './engine.ts'
import { endFlow, expiryOf, type FlowEnd } from './flow-ends.ts'
import * as flows from './flow-store.ts'
import type { CaptchaSolvers } from '../solvers/captcha-solvers.ts'
import type { StepLog, StepWriter } from '../steps/step-log.ts'
import { places } from './sealed-places.ts'
import { readMemory, sealOutcome, type FlowSettling } from './settling.ts'
import * as store from './store.ts'
import { isOver, type FlowEvent } from './transitions.ts'
import type { ConnectionRecord, FlowLimits, FlowRecord } from './types.ts'

const RETRY_MS = 500
/** The maximum of setTimeout. */
const MAX_TIMER_MS = 2 ** 31 - 1

export interface FlowRunOptions {
  readonly db: Db
  readonly pool: Pool
  readonly box: SealedBox
  readonly browsers: LoginBrowsers
  readonly engine: LoginEngine
  readonly credentials: Pick<CredentialResolver, 'resolve' | 'passkeyHosts' | 'keepPasskeys'>
  readonly settling: FlowSettling
  readonly steps: StepLog
  readonly solvers: CaptchaSolvers
  readonly limits: FlowLimits
  readonly log: Logger
}

/** Somebody else ended the row: it was canceled, expired or deleted. */
class FlowOver extends Error {}
/** The server stops and leaves the flow to the next one. */
class LeftAlone extends Error {}

const eventOf = {
  DISCOVERING: 'discovers',
  SUBMITTING: 'submits',
  AWAITING_INPUT: 'asks',
  AWAITING_EXTERNAL_ACTION: 'awaits_action',
} as const satisfies Record<RunState['step'], FlowEvent>

export class FlowRun {
  readonly #options: FlowRunOptions
  readonly #flow: FlowRecord
  readonly #connection: ConnectionRecord
  readonly #steps: StepWriter
  readonly #over = new AbortController()
  /** Changes of the row, one after another. */
  #writes: Promise<void> = Promise.resolve()
  #waiting: { readonly question: Question; readonly resolve: (submission: Submission) => void } | undefined
  /** The last submission, until the engine waits for it. */
  #submission: Submission | undefined
  #lastReport = ''
  #expiry: NodeJS.Timeout | undefined

  constructor(flow: FlowRecord, connection: ConnectionRecord, options: FlowRunOptions) {
    this.#flow = flow
    this.#connection = connection
    this.#options = options
    this.#steps = options.steps.writerFor({ flowId: flow.id })
    this.#setExpiry(flow)
  }

  get id(): string {
    return this.#flow.id
  }

  /** Resolves when the flow has ended or is left to the next server. Never rejects. */
  async run(): Promise<void> {
    const { log } = this.#options
    const flowId = this.id
    let session: Session | undefined
    try {
      session = await this.#open()
      const outcome = await this.#login(session)
      await this.#writes
      await this.#steps.written()
      if (outcome.isSuccess) await this.#succeed(session, outcome)
      else await this.#fail(toEnd(outcome))
    } catch (error) {
      const reason = this.#reasonOf(error, session)
      if (reason instanceof LeftAlone) return
      if (!(reason instanceof FlowOver)) {
        log.warn({ err: reason, flowId }, 'a login flow failed')
        await this.#fail(endOf(reason)).catch((err: unknown) =>
          log.warn({ err, flowId }, 'cannot record yet that a login flow failed'),
        )
      }
    } finally {
      clearTimeout(this.#expiry)
      await this.#steps.written()
    }
    if (session && !session.ending.aborted) await this.#end(session)
  }

  /** The first reason to end explains the errors that follow from it. */
  #reasonOf(error: unknown, session: Session | undefined): unknown {
    const { signal } = this.#over
    if (signal.aborted) return signal.reason
    return session?.ending.aborted ? session.ending.reason : error
  }

  async #end(session: Session): Promise<void> {
    const { browsers, log } = this.#options
    await browsers
      .end(session.id)
      .catch((error: unknown) =>
        log.warn({ err: error, sessionId: session.id }, 'cannot end the session of a login; it times out'),
      )
  }

  /** Called when any server changed the row. */
  async changed(): Promise<void> {
    const { db, box, log } = this.#options
    try {
      const flow = await flows.findFlow(db, this.id)
      if (!flow || isOver(flow)) return this.#over.abort(new FlowOver())
      this.#setExpiry(flow)
      if (flow.submission === null) return
      const sealed = await flows.takeSubmission(db, this.id)
      if (!sealed) return
      crashPoint('login-submission-taken')
      // SAFETY: we sealed it, from what the service had validated.
      const submission = JSON.parse(box.open(sealed, places.submission(this.id))) as Submission
      this.#submission = submission
      this.#deliver()
    } catch (error) {
      log.warn({ err: error, flowId: this.id }, 'cannot read the changes of a login flow')
    }
  }

  /** Leaves the flow to the next server. */
  leave(): void {
    clearTimeout(this.#expiry)
    this.#over.abort(new LeftAlone())
  }

  async #open(): Promise<Session> {
    const { browsers } = this.#options
    const { browser_id: before, is_recorded } = this.#flow
    if (before !== null) {
      const session = await browsers.find(before)
      if (!session) throw new SessionEnded('lost')
      return session
    }
    crashPoint('login-flow-begun')
    const { project_id: projectId, profile_id: profileId } = this.#connection
    const session = await browsers.create(
      { projectId, profileId, ...browserOf(this.#flow), isRecorded: is_recorded },
      async (tx, { id: browserId, telemetryCaptured }) => {
        const replayId = is_recorded ? await flows.replayOf(tx, browserId) : undefined
        const isThere = await flows.giveBrowser(tx, this.id, { browserId, telemetryCaptured, replayId })
        if (!isThere) throw new FlowOver()
      },
      this.#over.signal,
    )
    crashPoint('login-browser-created')
    return session
  }

  async #login(session: Session): Promise<LoginOutcome> {
    const { engine, credentials, solvers, box, log } = this.#options
    const {
      project_id: projectId,
      domain,
      credential,
      memory,
      login_url,
      learned_login_url,
    } = this.#connection
    const signal = AbortSignal.any([this.#over.signal, session.ending])
    const { plan, checks } = readMemory(box, this.#connection.id, memory)
    const imported = await this.#imported()
    const known =
      credential && !imported
        ? await credentials
            .resolve(projectId, credential, { domain, signal })
            .catch(withoutProvider(this.#flow))
        : undefined
    signal.throwIfAborted()
    using pageActions = engine.pageActionsOf(session)
    return await engine.runLogin({
      pageActions,
      domain,
      loginUrl: login_url ?? learned_login_url ?? undefined,
      allowedDomains: this.#connection.allowed_domains,
      known,
      isAttended: this.#flow.type === 'LOGIN',
      plan,
      checks,
      imported,
      passkeys: this.#passkeyWishes(),
      onState: (state) => this.#tell(state),
      onStep: (step) => this.#steps.add(step),
      solveCaptcha: solvers.solverOf(this.#connection, (error) =>
        log.info({ err: error, flowId: this.id }, 'the captcha solver of a connection has no answer'),
      ),
      submitted: (question, until) => this.#submitted(question, AbortSignal.any([until, signal])),
      signal,
    })
  }

  #passkeyWishes(): PasskeyWishes | undefined {
    const { credentials } = this.#options
    const { credential, domain, save_credentials: savesAll } = this.#connection
    const { adds_passkey: isWanted } = this.#flow
    const hosts = credentials.passkeyHosts(credential ?? undefined, domain)
    return hosts && { areKept: savesAll || isWanted, hosts, isWanted, onChange: (news) => this.#keep(news) }
  }

  /** At once, in a stored credential: the website knows the key, whatever becomes of the login. */
  async #keep(news: PasskeyNews): Promise<void> {
    const { pool, credentials } = this.#options
    const { credential, project_id: projectId } = this.#connection
    crashPoint('login-passkey-made')
    if (!credential) return
    await inTransaction(pool, ({ db: tx }) => credentials.keepPasskeys(tx, projectId, credential, news))
    crashPoint('login-passkey-kept')
  }

  async #imported(): Promise<ImportedSession | undefined> {
    const sealed = await findImport(this.#options.db, this.id)
    // SAFETY: we sealed it, from what the service had read.
    return sealed && (JSON.parse(this.#options.box.open(sealed, placeOfImport(this.id))) as ImportedSession)
  }

  #tell(state: RunState): void {
    const { limits } = this.#options
    const question = 'question' in state ? state.question : undefined
    const report = JSON.stringify(state)
    // A repeated report must not replace a newer submission.
    if (report === this.#lastReport) return
    this.#lastReport = report
    this.#write((tx) =>
      flows.transition(
        tx,
        this.id,
        eventOf[state.step],
        {
          ...(question && { question: JSON.stringify(question) }),
          website_error: question?.websiteError ?? null,
          // A submission for an earlier question is obsolete.
          ...(question && { submission: null }),
        },
        limits,
      ),
    )
  }

  #write(change: (tx: Db) => Promise<FlowRecord | undefined>): void {
    const before = this.#writes
    this.#writes = (async () => {
      await before
      await this.#record(change)
    })()
  }

  async #record(change: (tx: Db) => Promise<FlowRecord | undefined>): Promise<void> {
    const { pool, log } = this.#options
    while (!this.#over.signal.aborted) {
      try {
        const flow = await inTransaction(pool, ({ db: tx }) => change(tx))
        if (flow) this.#setExpiry(flow)
        else await this.#lookWhetherOver()
        return
      } catch (error) {
        log.warn({ err: error, flowId: this.id }, 'cannot record the state of a login flow yet')
        await pause(RETRY_MS, this.#over.signal)
      }
    }
  }

  async #lookWhetherOver(): Promise<void> {
    const flow = await flows.findFlow(this.#options.db, this.id)
    if (!flow || isOver(flow)) this.#over.abort(new FlowOver())
  }

  #submitted(question: Question, signal: AbortSignal): Promise<Submission> {
    const { promise, resolve, reject } = Promise.withResolvers<Submission>()
    const waiting = { question, resolve }
    const stop = () => reject(signal.reason as Error)
    this.#waiting = waiting
    signal.addEventListener('abort', stop)
    if (signal.aborted) stop()
    this.#deliver()
    return promise.finally(() => {
      signal.removeEventListener('abort', stop)
      if (this.#waiting === waiting) this.#waiting = undefined
    })
  }

  /** Drops a submission for a question that the page has already answered. */
  #deliver(): void {
    const submission = this.#submission
    if (!submission || this.#waiting?.question.interactionId !== submission.interactionId) return
    this.#submission = undefined
    this.#waiting.resolve(submission)
  }

  async #succeed(session: Session, outcome: LoginOutcome & { isSuccess: true }): Promise<void> {
    const { browsers, box, settling } = this.#options
    const sealed = sealOutcome(box, this.id, outcome)
    crashPoint('login-succeeded')
    await browsers.endSaved(session.id, {
      onConflict: 'replace',
      first: async (tx) => {
        const saving = await flows.transition(tx, this.id, 'saves', { outcome: sealed })
        if (!saving) throw new FlowOver()
      },
    })
    crashPoint('login-outcome-kept')
    clearTimeout(this.#expiry)
    await settling.whenSaved(
      this.id,
      { sessionId: session.id, profileId: this.#connection.profile_id },
      this.#over.signal,
    )
  }

  async #fail(end: FlowEnd): Promise<void> {
    const { pool } = this.#options
    await inTransaction(pool, ({ db: tx }) => endFlow(tx, this.id, 'fails', end))
    crashPoint('login-failed')
  }

  #setExpiry(flow: FlowRecord): void {
    clearTimeout(this.#expiry)
    if (this.#over.signal.aborted || isOver(flow) || flow.state === 'SAVING') return
    const left = Date.parse(flow.deadline_at) - Date.now()
    this.#expiry = setTimeout(() => void this.#expire(), Math.min(MAX_TIMER_MS, Math.max(0, left)))
  }

  async #expire(): Promise<void> {
    const { pool, log } = this.#options
    try {
      const expired = await inTransaction(pool, ({ db: tx }) => expire(tx, this.id))
      if (expired) this.#over.abort(new FlowOver())
      else await this.changed()
    } catch (error) {
      log.warn({ err: error, flowId: this.id }, 'cannot end an expired login flow yet')
      this.#expiry = setTimeout(() => void this.#expire(), RETRY_MS)
    }
  }
}

/** False when it has not expired yet, or has ended. */
export async function expire(tx: Db, flowId: string): Promise<boolean> {
  const flow = await flows.findFlow(tx, flowId)
  if (!flow) return false
  // Lock the connection first, as everybody does who locks both.
  await store.lockConnection(tx, flow.connection_id)
  const expired = await flows.lockExpired(tx, flowId)
  return expired !== undefined && (await endFlow(tx, flowId, 'expires', expiryOf(expired))) !== undefined
}

/** A person can type what a provider does not return; an automatic login cannot. */
function withoutProvider({ type }: FlowRecord) {
  return (error: unknown) => {
    if (type === 'LOGIN' && error instanceof AppError) return undefined
    throw error
  }
}

function toEnd(outcome: LoginOutcome & { isSuccess: false }): FlowEnd {
  return {
    error_code: outcome.code,
    error_message: outcome.message,
    website_error: outcome.websiteError ?? null,
  }
}

/** For errors that are not an outcome of the engine. The log has what the owner must not see. */
export function endOf(error: unknown): FlowEnd {
  if (error instanceof SessionEnded) {
    return {
      error_code: 'browser_error',
      error_message: `The browser session of the login has ended: ${error.reason}`,
    }
  }
  if (error instanceof BrowserUnavailable || error instanceof AgentError) {
    return { error_code: 'browser_error', error_message: 'The browser of the login failed' }
  }
  if (error instanceof AppError && error.status < 500) {
    return { error_code: 'browser_error', error_message: error.message }
  }
  if (error instanceof AppError) return { error_code: 'internal_error', error_message: error.message }
  return { error_code: 'internal_error', error_message: "Internal error; the server's log has the details" }
}
