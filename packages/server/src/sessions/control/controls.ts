// Passes every control operation to the agent in the same way; the contract describes the differences.
import type { IncomingMessage } from 'node:http'
import { maxAnswerMs } from '@berth/contracts/answer-time'
import { OUTPUT_FRAMES_TYPE } from '@berth/contracts/link'
import { publicIdOf, type Operation } from '@berth/contracts/operation'
import type { Session } from '../session/session.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { KeyedLimit } from '@berth/kit/keyed-limit'
import type { Call, RawAnswer, Route } from '../../http/call.ts'
import { RawJson } from '../../http/raw-json.ts'
import { answerBudget } from '../../instances/agent/answer-budget.ts'
import { MAX_WAIT_MS, readText } from '../../instances/agent/answers.ts'
import { AgentError, AgentLate } from '../../instances/agent/errors.ts'
import { callOperation } from '../../instances/agent/operations.ts'
import { eventsOf, LineFraming, toEvents } from './events.ts'
import { readJsonAnswer } from './json-answer.ts'
import { OutputFraming } from './output.ts'
import { relayedAnswer, relayedHeaders } from './relay.ts'

/** For an answer that should be empty. */
const MAX_EMPTY_BYTES = 64 * 1024
/** Concurrent calls including streams; more would overload an agent. */
const MAX_CALLS_PER_SESSION = 128

export interface ControlsOptions {
  /** Throws `not_found` for a session that the caller may not see or that has ended. */
  readonly find: (call: Call<unknown>, id: string) => Promise<Session>
  /** Limit for bodies that are passed on. */
  readonly maxBodyBytes: number
  /** Concurrent calls to all sessions of a project. */
  readonly maxCallsPerProject: number
}

export class Controls {
  readonly #options: ControlsOptions
  readonly #calls = new KeyedLimit(MAX_CALLS_PER_SESSION)
  readonly #callsOfProject: KeyedLimit

  constructor(options: ControlsOptions) {
    this.#options = options
    this.#callsOfProject = new KeyedLimit(options.maxCallsPerProject)
  }

  route(operation: Operation): Route {
    return { operation, handle: (call) => this.#pass(operation, call) }
  }

  async #pass(operation: Operation, call: Call<unknown>): Promise<unknown> {
    const { id, ...rest } = call.params as unknown as Record<string, string>
    const session = await this.#options.find(call, id!)
    call.whenOver(({ requestId, status, durationMs }) =>
      session.publish({
        type: 'api_call',
        data: {
          operation_id: publicIdOf(operation),
          request_id: requestId,
          status,
          duration_ms: durationMs,
        },
      }),
    )
    using acquired = new DisposableStack()
    acquired.use(enter(this.#callsOfProject, session.projectId, 'sessions of the project'))
    acquired.use(enter(this.#calls, session.id, 'the session'))
    const tooLarge = new AbortController()
    try {
      const loan = acquired.use(await session.lend())
      boundBody(call, { maxBytes: this.#options.maxBodyBytes, tooLarge })
      tooLarge.signal.throwIfAborted()
      const signal = AbortSignal.any([call.signal, session.ending, tooLarge.signal])
      const { query } = call
      const answer = await callOperation(loan.agent, operation, {
        params: rest,
        query,
        signal,
        answerWithinMs: maxAnswerMs(operation, call),
        ...bodyOf(operation, call),
      })
      if (operation.kind === 'binary' || operation.kind === 'events' || operation.kind === 'relay') {
        const stream = streamOf(operation, answer)
        const held = acquired.move()
        answer.once('close', () => held.dispose())
        return stream
      }
      const { path } = operation
      if (operation.kind !== 'json') {
        await readText(answer, { path, maxBytes: MAX_EMPTY_BYTES, maxWaitMs: MAX_WAIT_MS })
        return undefined
      }
      const share = acquired.use(answerBudget.shareOf(loan.agent))
      const result = await readJsonAnswer(answer, { path, share, signal })
      if (result instanceof RawJson) {
        const held = acquired.move()
        result.body.once('close', () => held.dispose())
      }
      return result
    } catch (error) {
      throw tooLarge.signal.aborted ? tooLarge.signal.reason : toAppError(error, { session, call })
    }
  }
}

function enter(limit: KeyedLimit, key: string, what: string): Disposable {
  const place = limit.enter(key)
  if (place) return place
  throw new AppError(
    'too_many_requests',
    `Cannot do this: ${limit.max} calls to ${what} are running, including streams; wait for one to end`,
    { headers: { 'retry-after': '1' } },
  )
}

function bodyOf({ kind, body, bodyStream }: Operation, call: Call<unknown>) {
  if (kind === 'relay') return { headers: relayedHeaders(call.headers), body: call.stream?.body }
  if (bodyStream) return call.stream ?? { headers: {}, body: undefined }
  // A body that the contract does not have is not passed on.
  if (!body || call.body === undefined) return { headers: {}, body: undefined }
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(call.body) }
}

/** Refuses a body up front when its declared length is too large, otherwise once it exceeds the limit. */
export function boundBody(
  { stream }: Pick<Call<unknown>, 'stream'>,
  { maxBytes, tooLarge }: { maxBytes: number; tooLarge: AbortController },
): void {
  if (!stream) return
  const refuse = () => {
    const most = `${Math.floor(maxBytes / 1024 / 1024)} MB`
    tooLarge.abort(
      new AppError('payload_too_large', `Cannot accept more than ${most}; see BERTH_MAX_FILE_MB`),
    )
  }
  if (Number(stream.headers['content-length'] ?? 0) > maxBytes) return refuse()
  let bytes = 0
  const count = (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= maxBytes) return
    stream.body.off('data', count)
    refuse()
  }
  stream.body.on('data', count)
}

function streamOf(operation: Operation, answer: IncomingMessage): RawAnswer {
  if (operation.kind === 'events') {
    const isOutput = answer.headers['content-type'] === OUTPUT_FRAMES_TYPE
    const toEvent = eventsOf(operation)
    const framing = isOutput ? new OutputFraming(toEvent) : new LineFraming(toEvent)
    return { body: toEvents(answer, framing) }
  }
  if (operation.kind === 'relay') return relayedAnswer(answer)
  const length = answer.headers['content-length']
  return { body: answer, ...(length !== undefined && { headers: { 'content-length': length } }) }
}

function toAppError(error: unknown, { session, call }: { session: Session; call: Call<unknown> }): unknown {
  if (error instanceof AppError || call.signal.aborted) return error
  if (session.ending.aborted) {
    return new AppError('not_found', 'Cannot do this: the session has ended', { cause: error })
  }
  if (error instanceof AgentLate) {
    const message = 'Cannot do this: the session does not answer; try again, or create a new session'
    return new AppError('unavailable', message, { cause: error })
  }
  return error instanceof AgentError || error instanceof SyntaxError
    ? new AppError('unavailable', 'Cannot reach the instance of the session; try again', { cause: error })
    : error
}
