// Answers come from inside an instance, so they are untrusted: limited in size and checked against the contract.
import type { IncomingMessage } from 'node:http'
import { Ajv, type ValidateFunction } from 'ajv'
import type { Static, TSchema } from 'typebox'
import type { JsonOutline } from '@berth/codecs/json/outline'
import { readBounded } from '@berth/kit/read-bounded'
import { AgentError, AgentRefusal } from './errors.ts'

// Schemas are not checked themselves: see http/validation.ts.
const ajv = new Ajv({ strict: true, allowUnionTypes: true, validateSchema: false })
const MAX_REASON_LENGTH = 4_000
const MAX_ERROR_BYTES = 64 * 1024

/** For the rest of an answer, from its head on. */
export const MAX_WAIT_MS = 60_000

interface ReadOptions {
  readonly path: string
  readonly maxBytes: number
  /** Without it, the caller has a deadline of its own. */
  readonly maxWaitMs?: number
  /** Holds the bytes in the server's budget. */
  readonly hold?: (bytes: number) => Promise<void>
  /** Looks at each piece; throws to stop. */
  readonly check?: JsonOutline | undefined
}

export async function readText(answer: IncomingMessage, options: ReadOptions): Promise<string> {
  return (await readBytes(answer, options)).toString()
}

export async function readBytes(
  answer: IncomingMessage,
  { path, maxBytes, maxWaitMs, hold, check }: ReadOptions,
): Promise<Buffer> {
  const late = () => answer.destroy(new Error('the rest of it did not come in time'))
  const timer = maxWaitMs === undefined ? undefined : setTimeout(late, maxWaitMs)
  async function* checked(): AsyncGenerator<Buffer> {
    for await (const piece of answer as AsyncIterable<Buffer>) {
      await hold?.(piece.length)
      check?.take(piece)
      yield piece
    }
    check?.end()
  }
  try {
    const tooLarge = () => new Error(`it is longer than ${maxBytes} bytes`)
    return await readBounded(hold || check ? checked() : answer, { maxBytes, tooLarge })
  } catch (error) {
    const reason = (error as Error).message
    throw new AgentError(`Cannot read the agent's answer to ${path}: ${reason}`, { cause: error })
  } finally {
    clearTimeout(timer)
  }
}

export const isSuccess = ({ statusCode }: IncomingMessage) => statusCode === 200 || statusCode === 204

/** Turns an error answer into an error, with the agent's own message if it has one. */
export async function readError(answer: IncomingMessage, path: string): Promise<AgentError> {
  const { statusCode: status = 0 } = answer
  const text = await readText(answer, { path, maxBytes: MAX_ERROR_BYTES, maxWaitMs: MAX_WAIT_MS })
  const { message } = (parseJson(text) ?? {}) as { message?: unknown }
  const reason =
    typeof message === 'string'
      ? message.slice(0, MAX_REASON_LENGTH)
      : `The agent answered ${status} to ${path}`
  return status < 500 ? new AgentRefusal(reason, status) : new AgentError(reason, { status })
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** A reader for JSON answers of this shape. The check is compiled on first use, because many servers need few of them. */
export function answerReader<Schema extends TSchema>(
  schema: Schema,
): (text: string, path: string) => Static<Schema> {
  let check: ValidateFunction<Static<Schema>> | undefined
  return (text, path) => {
    check ??= ajv.compile<Static<Schema>>(schema)
    const value = parseJson(text)
    if (!check(value)) throw new AgentError(`The agent sent a malformed answer to ${path}`)
    return value
  }
}
