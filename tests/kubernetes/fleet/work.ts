// What clients do all the time, and what was acknowledged to them: each answer of success must still be true at the end.
// Requests that met no server, or one that stops, are made again, as the published client does; they are counted.
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { newId } from '@berth/kit/ids'
import { send, type Answer, type Reached, type Session } from '../../fixtures/sessions.ts'

const AGAIN_MS = 250
const MAX_TRIES = 120

export interface Work {
  /** Sessions that were acknowledged, and what each has in its file. */
  readonly sessions: ReadonlyMap<string, string>
  readonly counts: { readonly requests: number; readonly again: number }
  /** Lets each client finish what it is doing. */
  stop(): Promise<void>
}

/** So many clients, each of which creates, uses and mostly deletes sessions. */
export function startWork(server: Reached, clients: number): Work {
  const sessions = new Map<string, string>()
  const counts = { requests: 0, again: 0 }
  const over = new AbortController()
  const ask = async <Body>(...args: RequestArguments) => {
    counts.requests++
    return insist<Body>(server, () => counts.again++, ...args)
  }
  const client = async () => {
    for (let turn = 1; !over.signal.aborted; turn++) {
      const { session_id: id } = await ask<Session>('POST', '/browsers', {
        headless: true,
        timeout_seconds: 600,
      })
      const content = newId()
      await ask('POST', `/browsers/${id}/process/exec`, {
        command: 'sh',
        args: ['-c', `printf %s ${content} > /home/kernel/kept`],
      })
      assert.equal(await readKept(ask, id), content)
      if (turn % 3 === 0) sessions.set(id, content)
      else await ask('DELETE', `/browsers/${id}`)
    }
  }
  const all = Promise.all(Array.from({ length: clients }, client))
  all.catch(() => {})
  return {
    sessions,
    counts,
    stop: async () => {
      over.abort()
      await all
    },
  }
}

/** Every acknowledged session is there, with what was written into it. */
export async function assertAllKept(server: Reached, { sessions }: Work): Promise<void> {
  const ask = <Body>(...args: RequestArguments) => insist<Body>(server, () => {}, ...args)
  for (const [id, content] of sessions) assert.equal(await readKept(ask, id), content, `session ${id}`)
}

type RequestArguments = readonly [method: string, path: string, body?: object]
type Ask = <Body>(...args: RequestArguments) => Promise<Body>

async function readKept(ask: Ask, id: string): Promise<string> {
  const { stdout_b64: output } = await ask<{ stdout_b64: string }>('POST', `/browsers/${id}/process/exec`, {
    command: 'cat',
    args: ['/home/kernel/kept'],
  })
  return Buffer.from(output, 'base64').toString()
}

/** Until it succeeds, or is refused for a reason that does not pass. A request that is made again has its effect once. */
export async function insist<Body>(
  server: Reached,
  onAgain: (why: string) => void,
  ...[method, path, body]: RequestArguments
): Promise<Body> {
  const headers = method === 'POST' ? { 'idempotency-key': newId() } : {}
  for (let tries = 1; ; tries++) {
    let why: string
    try {
      const answer: Answer<Body> = await send<Body>(server, method, path, body, headers)
      if (answer.status < 300) return answer.body
      // Deleted by the request before, whose answer was lost.
      if (method === 'DELETE' && answer.status === 404 && tries > 1) return answer.body
      why = `${answer.status} ${JSON.stringify(answer.body)}`
      if (![409, 429, 502, 503, 504, 529].includes(answer.status))
        throw new Refused(`${method} ${path}: ${why}`)
    } catch (error) {
      if (error instanceof Refused) throw error
      why = String((error as Error).cause ?? error)
    }
    if (tries === MAX_TRIES) throw new Error(`${method} ${path} fails again and again: ${why}`)
    onAgain(why)
    await delay(AGAIN_MS)
  }
}

class Refused extends Error {}
