// Renews the lease of the agent in this Pod, on behalf of the server that holds it.
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import type { Readable } from 'node:stream'

const ANSWER_MS = 10_000
/** It has to fit into a message, as JSON in JSON. */
const MAX_ANSWER_BYTES = 12 * 1024

export class AgentLease {
  readonly #agent: Agent

  /** `link`: where the agent listens. */
  constructor(link: string) {
    this.#agent = new Agent({ keepAlive: true, maxSockets: 1 })
    this.#agent.createConnection = () => {
      const socket = connect(link)
      socket.write('api\n')
      return socket
    }
  }

  /** Resolves with the answer of the agent. */
  async renew(seconds: number): Promise<string> {
    const answer = await this.#put('/lease', JSON.stringify({ seconds }))
    if (Buffer.byteLength(JSON.stringify(answer)) > MAX_ANSWER_BYTES) throw tooLong()
    return answer
  }

  close(): void {
    this.#agent.destroy()
  }

  #put(path: string, body: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const sent = request({
        agent: this.#agent,
        method: 'PUT',
        path,
        headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
        signal: AbortSignal.timeout(ANSWER_MS),
      })
      sent.once('response', (answer) => {
        if (answer.statusCode === 200) return void readAll(answer).then(resolve, reject)
        answer.resume()
        reject(new Error(`The agent answers ${answer.statusCode}`))
      })
      sent.on('error', reject)
      sent.end(body)
    })
  }
}

/** The tenant may have become the agent, so nothing is endless. */
async function readAll(answer: Readable): Promise<string> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of answer as AsyncIterable<Buffer>) {
    bytes += piece.length
    if (bytes > MAX_ANSWER_BYTES) throw tooLong()
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString()
}

const tooLong = () => new Error('The answer of the agent is too long')
