// Handles requests below /control, which the server forwards.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { relay } from '@berth/contracts/link'
import { BadInput } from '@berth/kit/bad-input'
import { freeBuffer } from '@berth/kit/free-buffer'
import { collectPassedPieces } from '@berth/kit/collect-passed-pieces'
import type { AnswerRequest } from '../../requests/answer.ts'
import { isBadRequest } from '../../requests/bad-request.ts'
import { readJson } from '../../requests/body.ts'
import { log } from '../../log/log.ts'
import { GivingBack } from './giving-back.ts'
import { isControlError, type ControlAnswer, type ControlOperation, type Relayed } from './operation.ts'

/** Errors carry a code, from which the server derives the status. */
const FAILED = 500
const REFUSED = 400

interface Route {
  readonly operation: ControlOperation
  readonly pattern: RegExp
}

export interface RouterOptions {
  readonly operations: readonly ControlOperation[]
  /** Directory that holds uploads until their destination is known. */
  readonly spool: string
  /** Called before an answer is sent. */
  readonly onAnswer: (response: ServerResponse) => void
}

export function controlRouter({ operations, spool, onAnswer }: RouterOptions): AnswerRequest {
  const routes = operations.map((operation) => ({
    operation,
    pattern: new RegExp(`^/control${operation.path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
  }))
  return (request, response) => answerControl({ routes, spool, onAnswer }, request, response)
}

async function answerControl(
  { routes, spool, onAnswer }: { routes: readonly Route[] } & Omit<RouterOptions, 'operations'>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  try {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://agent')
    const found = find(routes, request.method, pathname)
    if (!found) return sendJson(response, 404, { message: `Cannot ${request.method} ${pathname}` })
    const { operation, params } = found
    const body = operation.takesStream ? undefined : await readJson(request)
    const call = { params, query: searchParams, body, request, spool, signal: gone.signal }
    const result = await operation.handle(call)
    onAnswer(response)
    await send(response, result)
  } catch (error) {
    if (gone.signal.aborted) return
    if (response.headersSent) return void response.destroy()
    if (isControlError(error)) {
      return sendJson(response, REFUSED, { code: error.code, message: error.message, ...error.fields })
    }
    if (isBadRequest(error)) {
      const code = error.status === 413 ? 'payload_too_large' : 'bad_request'
      return sendJson(response, REFUSED, { code, message: error.message })
    }
    if (error instanceof BadInput) {
      return sendJson(response, REFUSED, { code: error.code, message: error.message })
    }
    log(`Cannot ${request.method} ${request.url?.split('?', 1)[0]}`, error)
    sendJson(response, FAILED, { message: (error as Error).message })
  }
}

function find(routes: readonly Route[], method: string | undefined, pathname: string) {
  for (const { operation, pattern } of routes) {
    const match = operation.method === method ? pattern.exec(pathname) : null
    if (!match) continue
    const given = Object.entries(match.groups ?? {})
    const params = Object.fromEntries(given.map(([name, value]) => [name, decodeURIComponent(value)]))
    return { operation, params }
  }
  return undefined
}

async function send(response: ServerResponse, answer: ControlAnswer): Promise<void> {
  if (!answer) return void response.writeHead(204).end()
  if ('bytes' in answer) {
    const { bytes, areSpent = false, length, contentType } = answer
    if (length !== undefined) response.setHeader('content-length', length)
    if (contentType !== undefined) response.setHeader('content-type', contentType)
    if ('status' in answer) setRelayed(response, answer)
    response.writeHead(200)
    if (Buffer.isBuffer(bytes)) return sendWhole(response, bytes)
    // The caller waits for the head, and the body may be slow.
    response.flushHeaders()
    if (areSpent) return pipeline(bytes, new GivingBack(response))
    collectPassedPieces(bytes)
    return pipeline(bytes, response)
  }
  if ('events' in answer) {
    response.writeHead(200)
    response.flushHeaders()
    return pipeline(lines(answer.events), response)
  }
  sendJson(response, 200, answer)
}

function sendWhole(response: ServerResponse, bytes: Buffer): void {
  const { socket } = response
  response.end(bytes, () => {
    // What a socket has written is in the kernel; any other stream may just have handed it on.
    if (socket instanceof Socket) freeBuffer(bytes)
  })
}

function setRelayed(response: ServerResponse, { status, headers }: Relayed): void {
  response.setHeader(relay.status, String(status))
  for (const [name, value] of headers) response.appendHeader(relay.header + name, value)
}

async function* lines(events: AsyncIterable<object>): AsyncIterable<string> {
  for await (const event of events) yield `${JSON.stringify(event)}\n`
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  if (response.destroyed) return
  const text = JSON.stringify(body)
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
  response.writeHead(status, headers).end(text)
}
