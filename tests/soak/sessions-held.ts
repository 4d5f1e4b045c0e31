// Many sessions with many clients and event readers for a long time: no call fails, no stream ends, and none misses
// an event.
import assert from 'node:assert/strict'
import { request, type IncomingMessage } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { agrees } from '../fixtures/agreement.ts'
import { CdpClient } from '../fixtures/cdp.ts'
import { cleanUpAfter, type Owner } from '../fixtures/cleanup.ts'
import { footprintOf } from '../fixtures/footprint.ts'
import { eventually } from '../fixtures/host.ts'
import { startServer, type TestServer } from '../fixtures/server.ts'
import { createSession } from '../fixtures/sessions.ts'

const SESSIONS = 40
const CLIENTS_OF_EACH = 5
const STREAMS_OF_EACH = 25
const EVERY_MS = 1_000
/** One of so many calls of a client makes an event. */
const CALLS_OF_AN_EVENT = 10

export interface Held {
  readonly calls: number
  readonly streams: number
  /** Events received by all streams together. */
  readonly eventsRead: number
  readonly medianMs: number
  readonly p99Ms: number
  readonly slowestMs: number
  /** The server's memory: at the beginning, and after every tenth. */
  readonly rssMb: readonly number[]
}

export async function holdSessions(owner: Owner, seconds: number): Promise<Held> {
  const server = await startServer(owner, { hasRealInstances: true })
  const clients: CdpClient[] = []
  const readers: StreamCounter[][] = []
  cleanUpAfter(owner, () => {
    clients.forEach((client) => client.terminate())
    readers.flat().forEach((reader) => reader.close())
  })
  const asked = { headless: true, telemetry: { browser: { console: { enabled: true } } } }
  for (let count = 0; count < SESSIONS; count += 4) {
    const sessions = await Promise.all(Array.from({ length: 4 }, () => createSession(server, asked)))
    for (const { session_id, cdp_ws_url } of sessions) {
      for (let each = 0; each < CLIENTS_OF_EACH; each++) clients.push(await CdpClient.open(cdp_ws_url))
      const streams = Array.from({ length: STREAMS_OF_EACH }, () => StreamCounter.open(server, session_id))
      readers.push(await Promise.all(streams))
    }
  }
  await agrees(server)
  const rssMb = [Math.round(footprintOf(server).rssMb)]
  const looking = setInterval(() => rssMb.push(Math.round(footprintOf(server).rssMb)), seconds * 100)
  cleanUpAfter(owner, () => clearInterval(looking))
  const times: number[] = []
  const until = performance.now() + seconds * 1000
  await Promise.all(
    clients.map(async (client, index) => {
      // Spread over time, as in practice.
      await delay((index / clients.length) * EVERY_MS)
      for (let count = 0; performance.now() < until; count++) {
        const askedAt = performance.now()
        const says = count % CALLS_OF_AN_EVENT === 0 ? 'console.log("still here"), ' : ''
        assert.equal(await client.evaluate(`${says}${index} + ${count}`), index + count)
        times.push(performance.now() - askedAt)
        await delay(EVERY_MS)
      }
    }),
  )
  clearInterval(looking)
  // Its memory grows for a while, and then no more.
  const [half, last] = [rssMb[Math.floor(rssMb.length / 2)]!, rssMb.at(-1)!]
  if (seconds >= 300) assert.ok(last <= half * 1.1, `it grew: ${rssMb.join(', ')} MB`)
  await agrees(server)
  for (const streams of readers) {
    await eventually('all streams of a session were told the same', () => {
      return streams.every(
        ({ count, lastId }) => count === streams[0]!.count && lastId === streams[0]!.lastId,
      )
    })
    assert.ok(streams[0]!.count >= Math.floor(seconds / CALLS_OF_AN_EVENT), 'events came')
    assert.ok(
      streams.every(({ hasEnded }) => !hasEnded),
      'a stream has ended',
    )
  }
  const all = readers.flat()
  const sorted = times.toSorted((a, b) => a - b)
  const at = (part: number) => Math.round(sorted[Math.floor((sorted.length - 1) * part)]! * 10) / 10
  return {
    calls: times.length,
    streams: all.length,
    eventsRead: all.reduce((sum, { count }) => sum + count, 0),
    medianMs: at(0.5),
    p99Ms: at(0.99),
    slowestMs: at(1),
    rssMb,
  }
}

/** A reader that only counts events. */
class StreamCounter {
  count = 0
  lastId = ''
  hasEnded = false
  readonly #answer: IncomingMessage

  private constructor(answer: IncomingMessage) {
    this.#answer = answer
    let rest = ''
    answer.setEncoding('latin1')
    answer.on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop()!
      for (const line of lines) {
        if (!line.startsWith('id: ')) continue
        this.count++
        this.lastId = line
      }
    })
    answer.on('error', () => {})
    answer.once('close', () => (this.hasEnded = true))
  }

  static async open(server: TestServer, sessionId: string): Promise<StreamCounter> {
    const headers = { authorization: `Bearer ${server.key}` }
    const url = `${server.url}/browsers/${sessionId}/telemetry/stream`
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      request(url, { headers, agent: false }, resolve).on('error', reject).end()
    })
    assert.equal(answer.statusCode, 200)
    return new StreamCounter(answer)
  }

  close(): void {
    this.#answer.destroy()
  }
}
