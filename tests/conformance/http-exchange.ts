// Raw requests: any method, repeated headers, nothing added.
import { Agent, request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { cleanUpAfter, type Owner } from '../fixtures/cleanup.ts'

export interface Exchange {
  readonly method: string
  readonly path: string
  readonly headers?: readonly (readonly [name: string, value: string])[]
  readonly body?: string | Buffer | undefined
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** Undefined if the body is not JSON. */
  readonly json: unknown
}

export class HttpCaller {
  readonly #url: URL
  readonly #agent: Agent

  constructor(owner: Owner, url: string) {
    this.#url = new URL(url)
    this.#agent = new Agent({ keepAlive: true, maxSockets: 16 })
    cleanUpAfter(owner, () => this.#agent.destroy())
  }

  send({ method, path, headers = [], body }: Exchange): Promise<Answer> {
    const { hostname, port, host } = this.#url
    // As clients do; without it, Node would send an empty chunked body.
    const length = body !== undefined || method.startsWith('P') ? [['Content-Length', byteLength(body)]] : []
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const sent = request({
      agent: this.#agent,
      hostname,
      port,
      method,
      path,
      // A flat list, because an object would merge or drop repeated names.
      headers: [['Host', host], ...length, ...headers].flat(),
    })
    sent.on('error', reject)
    sent.once('response', (response) => void readAnswer(response).then(resolve, reject))
    sent.end(body)
    return promise
  }

  sendAs(key: string, exchange: Exchange): Promise<Answer> {
    return this.send({
      ...exchange,
      headers: [['Authorization', `Bearer ${key}`], ...(exchange.headers ?? [])],
    })
  }

  sendJson(key: string, method: string, path: string, body?: unknown): Promise<Answer> {
    if (body === undefined) return this.sendAs(key, { method, path })
    return this.sendAs(key, {
      method,
      path,
      headers: [['Content-Type', 'application/json']],
      body: JSON.stringify(body),
    })
  }
}

function byteLength(body: string | Buffer = ''): string {
  return String(Buffer.byteLength(body))
}

async function readAnswer(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = []
  const isEndless = response.headers['content-type']?.startsWith('text/event-stream')
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    // The beginning of a stream is enough; leaving the loop closes it.
    if (isEndless) break
  }
  const text = Buffer.concat(chunks).toString()
  return {
    status: response.statusCode!,
    headers: response.headers,
    text,
    get json() {
      return parseJson(text)
    },
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
