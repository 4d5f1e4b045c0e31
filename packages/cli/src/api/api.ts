// Calls of the API through the published client: retries, keys and errors are its own.
import { randomUUID } from 'node:crypto'
import { Kernel } from '@onkernel/sdk'
import { followSse } from '@berth/kit/sse-follow'
import type { Server } from '../contexts/server.ts'
import { Failure } from '../basics/failure.ts'
import { exitCodes } from '../basics/exit-codes.ts'
import { findOperation } from './operations.ts'

/** Invocations and logins answer after minutes; a person stops waiting with Ctrl-C. */
const ANSWER_TIMEOUT_MS = 15 * 60_000
const MAX_EVENT_LENGTH = 16 * 1024 * 1024
/** The largest page that the server gives. */
export const MAX_PAGE = 100

export interface CallInput {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, unknown>>
  /** An object is sent as JSON; bytes, streams and forms as they are. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** By default the published client's two. */
  readonly maxRetries?: number
}

export interface Page {
  readonly items: readonly unknown[]
  readonly hasMore: boolean
  readonly next: string | undefined
}

export class Api {
  readonly server: Server
  readonly #client: Kernel
  readonly #signal: AbortSignal

  constructor(server: Server, signal: AbortSignal) {
    this.server = server
    this.#signal = signal
    this.#client = new Kernel({
      baseURL: server.url,
      apiKey: server.key ?? '',
      timeout: ANSWER_TIMEOUT_MS,
      logLevel: 'off',
      ...(server.project !== undefined && {
        defaultHeaders: { 'X-Kernel-Project': headerText(server.project) },
      }),
    })
  }

  /** The same server, with another signal: to clean up after Ctrl-C. */
  within(signal: AbortSignal): Api {
    return new Api(this.server, signal)
  }

  /** The parsed answer of an operation; null when it has none. */
  async call<Body = unknown>(id: string, input: CallInput = {}): Promise<Body> {
    const response = await this.answer(id, input)
    return (await bodyOf(response)) as Body
  }

  async answer(id: string, { params = {}, ...input }: CallInput = {}): Promise<Response> {
    const { method, path, isOpen } = findOperation(id)
    if (!isOpen) this.#needKey()
    const filled = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) =>
      encodeURIComponent(params[name] ?? ''),
    )
    return this.send(method, filled, input)
  }

  async send(method: string, path: string, input: Omit<CallInput, 'params'> = {}): Promise<Response> {
    const { query, body, headers, maxRetries } = input
    const isJson = isPlain(body)
    return this.#client
      .request<Response>({
        method: method.toLowerCase() as 'get',
        path,
        signal: this.#signal,
        ...(query && { query: { ...query } }),
        ...(body !== undefined && { body }),
        headers: {
          ...(this.server.key === undefined && { Authorization: null }),
          // So that what the client repeats happens once.
          ...(method === 'POST' && (isJson || body === undefined) && { 'Idempotency-Key': randomUUID() }),
          ...headers,
        },
        ...(maxRetries !== undefined && { maxRetries }),
        __binaryResponse: true,
      })
      .asResponse()
  }

  async page(id: string, input: CallInput): Promise<Page> {
    const response = await this.answer(id, input)
    const hasMore = response.headers.get('x-has-more') === 'true'
    const next = response.headers.get('x-next-offset') ?? response.headers.get('x-next-page-token')
    const items = await bodyOf(response)
    if (!Array.isArray(items)) throw new Failure('Cannot read the answer of the server: it is no list')
    return { items, hasMore, next: hasMore ? (next ?? undefined) : undefined }
  }

  /** Every item of a list, page by page. */
  async all(id: string, { query = {}, ...input }: CallInput = {}): Promise<unknown[]> {
    const found: unknown[] = []
    const by = findOperation(id).paging === 'token' ? 'page_token' : 'offset'
    let place: Record<string, string> = {}
    for (;;) {
      const { items, next } = await this.page(id, {
        ...input,
        query: { limit: MAX_PAGE, ...query, ...place },
      })
      found.push(...items)
      if (next === undefined) return found
      place = { [by]: next }
    }
  }

  async *events<Event = unknown>(id: string, input: CallInput = {}): AsyncGenerator<Event> {
    const response = await this.answer(id, {
      ...input,
      maxRetries: 0,
      headers: { accept: 'text/event-stream', ...input.headers },
    })
    if (!response.body) return
    for await (const { data } of followSse(response.body, { maxLength: MAX_EVENT_LENGTH })) {
      yield JSON.parse(data) as Event
    }
  }

  #needKey(): void {
    if (this.server.key !== undefined) return
    throw new Failure(`Cannot call ${this.server.url}: there is no API key for it`, {
      exitCode: exitCodes.denied,
      remedy: 'Log in with "berth login", or set KERNEL_API_KEY',
    })
  }
}

/** Names may have any characters, and headers have bytes. */
const headerText = (text: string) => Buffer.from(text).toString('latin1')

/** Not a stream, a form, a file or bytes. */
function isPlain(body: unknown): boolean {
  return typeof body === 'object' && body !== null && Object.getPrototypeOf(body) === Object.prototype
}

async function bodyOf(response: Response): Promise<unknown> {
  const text = await response.text()
  if (text === '') return null
  if (!response.headers.get('content-type')?.includes('json')) return text
  return JSON.parse(text)
}
