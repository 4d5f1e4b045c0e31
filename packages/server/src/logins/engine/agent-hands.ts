// The browser of a session as a login sees it, on whichever server the session is. A login may wait for a person for
// minutes while its page waits, too, for an answer on another device: so the session neither times out nor sleeps for as
// long as there are hands. Whoever has them bounds that time.
import { Ajv, type ValidateFunction } from 'ajv'
import {
  ActResult,
  PageSight,
  type ActOrder,
  type LookOrder,
  type VisitOrder,
} from '@berth/contracts/login-sight'
import { HandsLost, type Hands } from '@berth/login/hands'
import { awake, type Session } from '../../sessions/browsers/session.ts'
import { readText, type AgentClient } from '../../instances/agent-client.ts'

/** Beyond what it is asked to wait for: Chromium may have to start again, and a page may be slow to be looked at. */
const LOOK_MS = 40_000
const ACT_MS = 60_000
const HIDE_MS = 10_000
/** What the agent keeps to, with what JSON makes of it at worst. */
const MOST_SIGHT_BYTES = 12 * 1024 * 1024
const MOST_ANSWER_BYTES = 64 * 1024
const LONGEST_REASON = 500
/** Chromium is not there. */
const GONE = 410

let checks: { sight: ValidateFunction<PageSight>; result: ValidateFunction<ActResult> } | undefined

function compiled() {
  if (checks) return checks
  const ajv = new Ajv({ strict: true, allowUnionTypes: true })
  checks = { sight: ajv.compile<PageSight>(PageSight), result: ajv.compile<ActResult>(ActResult) }
  return checks
}

interface Ask {
  readonly method: 'POST' | 'PUT'
  readonly path: string
  readonly body: object
  readonly ms: number
  readonly mostBytes: number
  readonly signal?: AbortSignal
}

export class AgentHands implements Hands, Disposable {
  readonly #session: Session
  readonly #held: Disposable

  constructor(session: Session) {
    this.#session = session
    this.#held = session.stayAwake()
  }

  async look(order: LookOrder, signal: AbortSignal): Promise<PageSight> {
    return this.#see('/login/look', order, signal)
  }

  async visit(order: VisitOrder, signal: AbortSignal): Promise<PageSight> {
    return this.#see('/login/visit', order, signal)
  }

  async act(order: ActOrder, signal: AbortSignal): Promise<ActResult> {
    const path = '/login/act'
    const answer = await this.#ask({
      method: 'POST',
      path,
      body: order,
      ms: ACT_MS,
      mostBytes: MOST_ANSWER_BYTES,
      signal,
    })
    if (!compiled().result(answer)) throw wrong(path)
    return answer
  }

  async hide(values: readonly string[]): Promise<void> {
    const path = '/login/secrets'
    await this.#ask({ method: 'PUT', path, body: { values }, ms: HIDE_MS, mostBytes: MOST_ANSWER_BYTES })
  }

  [Symbol.dispose](): void {
    this.#held[Symbol.dispose]()
  }

  async #see(path: string, order: LookOrder | VisitOrder, signal: AbortSignal): Promise<PageSight> {
    const answer = await this.#ask({
      method: 'POST',
      path,
      body: order,
      ms: order.most_ms + LOOK_MS,
      mostBytes: MOST_SIGHT_BYTES,
      signal,
    })
    if (!compiled().sight(answer)) throw wrong(path)
    return answer
  }

  async #ask({ ms, signal, ...call }: Ask): Promise<unknown> {
    signal?.throwIfAborted()
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(new Error(`no answer within ${ms / 1000} s`)), ms)
    const stop = AbortSignal.any([...(signal ? [signal] : []), late.signal, this.#session.ending])
    try {
      return await awake(this.#session, (agent) => exchange(agent, { ...call, signal: stop }))
    } catch (error) {
      signal?.throwIfAborted()
      throw this.#lost(error)
    } finally {
      clearTimeout(timer)
    }
  }

  #lost(error: unknown): HandsLost {
    if (error instanceof HandsLost) return error
    const { ending } = this.#session
    if (ending.aborted)
      return new HandsLost('session', (ending.reason as Error).message, { cause: ending.reason })
    const { message } = error as Error
    return new HandsLost('agent', `The agent does not answer: ${message}`, { cause: error })
  }
}

async function exchange(
  agent: AgentClient,
  { method, path, body, mostBytes, signal }: Omit<Ask, 'ms'> & { signal: AbortSignal },
): Promise<unknown> {
  const headers = { 'content-type': 'application/json' }
  const answer = await agent.forward({ method, path, headers, body: JSON.stringify(body), signal })
  const text = await readText(answer, { path, mostBytes })
  const { statusCode = 0 } = answer
  if (statusCode === 204) return undefined
  const value = parse(text)
  if (statusCode === 200) return value
  const { message } = (value ?? {}) as { message?: unknown }
  const why = typeof message === 'string' ? message.slice(0, LONGEST_REASON) : `it answered ${statusCode}`
  throw new HandsLost(statusCode === GONE ? 'browser' : 'agent', why)
}

function wrong(path: string): HandsLost {
  return new HandsLost('agent', `The agent gave a wrong answer to ${path}`)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
