// The operations that the agent itself serves: computer, files, processes, extensions and so on. They are all called
// in the same way; the contract holds the differences.
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { errorCodes, type ErrorCode } from '@berth/contracts/errors'
import { MARGIN_MS } from '@berth/contracts/answer-time'
import type { Operation } from '@berth/contracts/operation'
import { AppError } from '../../platform/errors/app-error.ts'
import { isSuccess, MAX_WAIT_MS, parseJson, readText } from './answers.ts'
import type { AgentClient } from './client.ts'
import { AgentError } from './errors.ts'
import { fieldsOf, type Refusal } from './refusal-fields.ts'

const MAX_ERROR_BYTES = 64 * 1024
const MAX_MESSAGE_LENGTH = 2_000

export interface OperationCall {
  /** Path parameters, without the session's id. */
  readonly params?: Readonly<Record<string, string>>
  readonly query?: unknown
  readonly headers?: OutgoingHttpHeaders
  readonly body?: Readable | string | undefined
  readonly signal: AbortSignal
  /** From the last byte of the request to the head of its answer. */
  readonly answerWithinMs?: number
}

/**
 * Returns a successful answer; the caller limits its size and pace. Throws an AppError for an error that the
 * operation defines, and an AgentError for any other.
 */
export async function callOperation(
  agent: AgentClient,
  operation: Operation,
  call: OperationCall,
): Promise<IncomingMessage> {
  const { params = {}, query, headers = {}, body, signal, answerWithinMs = MARGIN_MS } = call
  const path = pathOf(operation, params, query)
  const answer = await agent.forward({
    method: operation.method,
    path,
    headers,
    body,
    signal,
    answerWithinMs,
  })
  if (isSuccess(answer)) return answer
  throw await readRefusal(answer, operation)
}

/** The agent's path, such as /control/process/{process_id}/kill, with its parameters filled in. */
function pathOf(
  { sessionPath }: Operation,
  params: Readonly<Record<string, string>>,
  query: unknown,
): string {
  const filled = sessionPath!.replaceAll(/\{(\w+)\}/g, (_all, name: string) =>
    encodeURIComponent(params[name]!),
  )
  const search = new URLSearchParams()
  type Value = string | number | boolean | undefined
  for (const [name, value] of Object.entries((query ?? {}) as Record<string, Value>)) {
    if (value !== undefined) search.set(name, String(value))
  }
  return search.size > 0 ? `/control${filled}?${search.toString()}` : `/control${filled}`
}

async function readRefusal(
  answer: IncomingMessage,
  { path, errors }: Operation,
): Promise<AppError | AgentError> {
  const text = await readText(answer, { path, maxBytes: MAX_ERROR_BYTES, maxWaitMs: MAX_WAIT_MS })
  const value = parseJson(text)
  const { code, message, ...rest }: Refusal = typeof value === 'object' && value !== null ? value : {}
  const isKnown = (errorCodes as readonly unknown[]).includes(code)
  const isOurs = isKnown && (errors.includes(code as ErrorCode) || code === 'bad_request')
  if (!isOurs || typeof message !== 'string') {
    return new AgentError(
      `The agent answered ${answer.statusCode} to ${path}: ${text.slice(0, MAX_MESSAGE_LENGTH)}`,
    )
  }
  return new AppError(code as ErrorCode, message.slice(0, MAX_MESSAGE_LENGTH), { fields: fieldsOf(rest) })
}
