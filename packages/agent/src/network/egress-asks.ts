// Asks egress, over its socket, what the kernel waits for. While no server is there, or all places are taken, it asks again:
// a program whose packet was dropped instead would wait longer with each try.
import { Agent, get } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { EGRESS_ASK_HOST, type ConnectionFate } from '@berth/contracts/link'
import type { ProxyErrorCode } from '@berth/contracts/telemetry-events'
import { readBounded } from '@berth/kit/read-bounded'

/** Longer than egress takes for any of them. */
const ANSWER_MS = 90_000
/** As long as programs themselves wait for a connection. */
const SERVER_MS = 30_000
const FIRST_AGAIN_MS = 200
const LAST_AGAIN_MS = 2_000
const BUSY = 503
/** As an error of the system is named. */
const NOT_NOW = 'EAGAIN'
const AGAIN = new Set(['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', NOT_NOW])
const MAX_ANSWER_BYTES = 4_096
const KEPT_CONNECTIONS = 4

export interface EgressFailure {
  readonly code: ProxyErrorCode
  /** Of the answer that plain HTTP gets. */
  readonly status: number
}

export class EgressAsks {
  readonly #socketPath: string
  readonly #agent = new Agent({ keepAlive: true, maxFreeSockets: KEPT_CONNECTIONS })

  constructor(socketPath: string) {
    this.#socketPath = socketPath
  }

  /** Undefined if there is no such name, and no addresses if a connection must go to the name. */
  async addressesOf(name: string): Promise<readonly string[] | undefined> {
    const path = `/names/${encodeURIComponent(name)}`
    const { exists, addresses } = (await this.#ask(path)) as { exists?: boolean; addresses?: string[] }
    return exists ? (addresses ?? []) : undefined
  }

  /** `host` is what to connect to, and `address` what the program named. */
  async fateOf({
    host,
    port,
    address,
  }: {
    host: string
    port: number
    address: string
  }): Promise<ConnectionFate> {
    const literal = host.includes(':') ? `[${host}]` : host
    const path = `/connections/${encodeURIComponent(`${literal}:${port}`)}?to=${encodeURIComponent(address)}`
    const { fate } = (await this.#ask(path)) as { fate?: ConnectionFate }
    return fate ?? 'refuse'
  }

  /** Why a connection to `host` has just failed; undefined when egress knows of no failure. */
  async failureOf({ host, port }: { host: string; port: number }): Promise<EgressFailure | undefined> {
    const path = `/failures/${encodeURIComponent(`${host}:${port}`)}`
    const { failure } = (await this.#askOnce(path)) as { failure?: EgressFailure }
    return failure
  }

  async #ask(path: string): Promise<object> {
    const giveUpAt = performance.now() + SERVER_MS
    for (let pause = FIRST_AGAIN_MS; ; pause = Math.min(pause * 2, LAST_AGAIN_MS)) {
      try {
        return await this.#askOnce(path)
      } catch (error) {
        const isWorthIt = AGAIN.has((error as NodeJS.ErrnoException).code ?? '')
        if (!isWorthIt || performance.now() > giveUpAt) throw error
        await delay(pause, undefined, { ref: false })
      }
    }
  }

  #askOnce(path: string): Promise<object> {
    return new Promise((resolve, reject) => {
      const asked = get(
        {
          socketPath: this.#socketPath,
          agent: this.#agent,
          path: `http://${EGRESS_ASK_HOST}${path}`,
          timeout: ANSWER_MS,
        },
        (answer) => {
          readBounded(answer, {
            maxBytes: MAX_ANSWER_BYTES,
            tooLarge: () => new Error('Cannot read the answer: it is too long'),
          })
            .then((body) => resolve(readAnswer(answer.statusCode, body)))
            .catch(reject)
        },
      )
      asked.on('error', reject)
      asked.on('timeout', () => asked.destroy(new Error('Cannot ask egress: no answer in time')))
    })
  }
}

function readAnswer(status: number | undefined, body: Buffer): object {
  const answer = JSON.parse(body.toString()) as object
  if (status === 200) return answer
  const error = new Error(`Cannot ask egress: it answers ${status}`)
  throw status === BUSY ? Object.assign(error, { code: NOT_NOW }) : error
}
