// Sends requests one after another over a keep-alive connection. A client library's own cost would hide ours.
import { Agent, request } from 'node:http'

export interface HttpRequest {
  readonly url: string
  readonly method: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export interface HttpAnswer {
  readonly status: number
  readonly text: string
  readonly bytes: Buffer
  /** From the call until the last byte of the answer. */
  readonly elapsedMs: number
}

export class HttpClient {
  readonly #agent: Agent

  /** One connection, unless requests are sent in parallel. */
  constructor({ connections = 1 } = {}) {
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections })
  }

  send({ url, method, headers, body }: HttpRequest): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      const startedAt = performance.now()
      const sent = request(url, { method, agent: this.#agent, ...(headers && { headers }) }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const elapsedMs = performance.now() - startedAt
          const bytes = Buffer.concat(chunks)
          resolve({ status: response.statusCode!, bytes, text: bytes.toString(), elapsedMs })
        })
      })
      sent.on('error', reject)
      sent.end(body)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}
