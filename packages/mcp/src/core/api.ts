// The API, called by the rows of the contract through the published client, which has its retries, time limits and errors.
import Kernel, { APIConnectionTimeoutError, APIError } from '@onkernel/sdk'
import type { Operation, Response as Answer } from '@berth/contracts/operation'

/** Longer than any answer of an operation that does not say how long it works. */
const TIMEOUT_MS = 90_000
/** What a call takes beside the work that it limits itself. */
const MARGIN_MS = 30_000

export interface ApiOptions {
  readonly baseUrl: string
  readonly apiKey: string
  /** How requests leave; by default over the network. */
  readonly fetch?: typeof fetch
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Fields come from the caller of a tool, and the API checks them. */
export interface Input {
  /** Values for the `{…}` of the path. */
  readonly params?: Readonly<Record<string, string>>
  readonly query?: object
  readonly body?: object
  /** How long the work itself may take. Such calls are not repeated: they would do it twice. */
  readonly workSeconds?: number
}

export interface Page<T> {
  readonly items: T
  readonly hasMore: boolean
  readonly nextOffset: number | undefined
}

export class Api {
  readonly #client: Kernel
  readonly #headers: Readonly<Record<string, string>>
  readonly #signal: AbortSignal

  private constructor(client: Kernel, headers: Readonly<Record<string, string>>, signal: AbortSignal) {
    this.#client = client
    this.#headers = headers
    this.#signal = signal
  }

  static open({ baseUrl, apiKey, fetch: ownFetch, headers = {} }: ApiOptions, signal: AbortSignal): Api {
    const client = new Kernel({
      apiKey,
      baseURL: baseUrl,
      timeout: TIMEOUT_MS,
      logLevel: 'off',
      ...(ownFetch && { fetch: ownFetch }),
    })
    return new Api(client, headers, signal)
  }

  /** The same API with further headers, or for other work. */
  with({ headers, signal }: { headers?: Readonly<Record<string, string>>; signal?: AbortSignal }): Api {
    return new Api(this.#client, { ...this.#headers, ...headers }, signal ?? this.#signal)
  }

  async call<O extends Operation>(operation: O, input: Input = {}): Promise<Answer<O>> {
    return this.#request(operation, input)
  }

  /** For lists that are paged by offset. */
  async page<O extends Operation>(operation: O, input: Input = {}): Promise<Page<Answer<O>>> {
    const { data, response } = await this.#request<O>(operation, input).withResponse()
    const next = Number(response.headers.get('x-next-offset') ?? 0)
    return {
      items: data,
      hasMore: response.headers.get('x-has-more') === 'true',
      nextOffset: next > 0 ? next : undefined,
    }
  }

  /** For answers of bytes. Read or cancel its body. */
  async bytes(operation: Operation, input: Input = {}): Promise<Response> {
    return this.#request(operation, input, { __binaryResponse: true }).asResponse()
  }

  /** For bodies of bytes. */
  async send(operation: Operation, input: Input, body: Uint8Array): Promise<void> {
    await this.#client.request({
      ...this.#requestOf(operation, input),
      body,
      headers: { ...this.#headers, 'content-type': 'application/octet-stream', accept: '*/*' },
    })
  }

  /** For forms. */
  async form(operation: Operation, input: Input, form: FormData): Promise<void> {
    await this.#client.request({ ...this.#requestOf(operation, input), body: form })
  }

  /** A page of the server itself, such as one of the guide. */
  async text(path: string): Promise<string> {
    const response = await this.#client
      .get(path, { headers: { ...this.#headers, accept: 'text/html' }, signal: this.#signal })
      .asResponse()
    return response.text()
  }

  #request<O extends Operation>(operation: O, input: Input, extra: object = {}) {
    const options = { ...this.#requestOf(operation, input), ...extra }
    return this.#client.request<Answer<O>>(options)
  }

  #requestOf({ method, path }: Operation, input: Input) {
    const { params = {}, query, body, workSeconds } = input
    // SAFETY: the contract has no method that the client does not know.
    return {
      method: method.toLowerCase() as 'get',
      path: path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => segmentOf(params[name] ?? '')),
      signal: this.#signal,
      headers: this.#headers,
      ...(query !== undefined && { query: query as Record<string, unknown> }),
      ...(body !== undefined && { body }),
      ...(workSeconds !== undefined && { timeout: workSeconds * 1000 + MARGIN_MS, maxRetries: 0 }),
    }
  }
}

/** Dots alone would lead to another operation, also when they are escaped. A space in front is no name of anything. */
const segmentOf = (value: string) => encodeURIComponent(/^\.{1,2}$/.test(value) ? ` ${value}` : value)

/** What the API said, with its code; undefined for anything else. */
export function refusalOf(error: unknown): { message: string; code: string; status: number } | undefined {
  if (error instanceof APIConnectionTimeoutError) {
    return { message: 'Cannot get an answer in time; try again', code: 'timeout', status: 0 }
  }
  if (!(error instanceof APIError)) return undefined
  if (error.status === undefined) {
    return { message: 'Cannot reach the API; try again', code: 'unreachable', status: 0 }
  }
  const { message, code, details } = (error.error ?? {}) as {
    message?: string
    code?: string
    details?: readonly { message?: string }[]
  }
  const further = (details ?? []).flatMap((each) => (each.message ? [`- ${each.message}`] : []))
  const said = message ?? error.message
  return {
    message: [said, ...further.filter((line) => !said.includes(line.slice(2)))].join('\n'),
    code: code ?? 'unknown',
    status: error.status as number,
  }
}
