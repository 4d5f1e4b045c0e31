// Invocations while their server is killed repeatedly. Used by the test (a hundred) and by `npm run soak`.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { cleanUpAfter, type Owner } from '../fixtures/cleanup.ts'
import { deploy, invoke, tinyApp } from '../fixtures/apps.ts'
import { eventually } from '../fixtures/host.ts'
import { seededRandom } from '../fixtures/random.ts'
import { startServer, tempDir, type TestServer } from '../fixtures/server.ts'
import { query } from '../fixtures/sessions.ts'

export interface StartCounter {
  readonly allow: string
  readonly url: string
  /** How often the handler of each invocation began. */
  readonly starts: ReadonlyMap<string, number>
}

/** Handlers report here that they began. */
export async function countStarts(owner: Owner): Promise<StartCounter> {
  const starts = new Map<string, number>()
  const known = new Set<string>()
  const server = createServer((request, response) => {
    const [, id = '', start = ''] = request.url!.split('/')
    if (!known.has(start)) starts.set(id, (starts.get(id) ?? 0) + 1)
    known.add(start)
    response.end('noted')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanUpAfter(owner, async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  const allow = `host.berth.internal:${(server.address() as AddressInfo).port}`
  return { allow, url: `http://${allow}`, starts }
}

export const countedApp = (url: string) =>
  tinyApp('counted', {
    work: `async (context, payload) => {
      const start = crypto.randomUUID()
      const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
      // There is no egress without a server, so the handler repeats it until it arrives.
      for (let isHeard = false; !isHeard; ) {
        isHeard = await fetch('${url}/' + context.invocation_id + '/' + start).then((answer) => answer.ok, () => false)
        if (!isHeard) await pause(50)
      }
      await pause(payload?.ms ?? 0)
      console.log('worked')
      return context.invocation_id
    }`,
  })

export interface Ended {
  readonly id: string
  readonly status: string
  readonly reason: string | null
}

export async function allEnded(server: TestServer, withinMs: number): Promise<Ended[]> {
  let rows: Ended[] = []
  await eventually(
    'every invocation is over',
    async () => {
      rows = await query<Ended>(server, 'SELECT id, status, status_reason AS reason FROM invocations')
      return rows.every(({ status }) => status === 'succeeded' || status === 'failed')
    },
    withinMs,
  )
  return rows
}

/**
 * Kills the server at random until that many invocations were accepted; each must end once and begin at most once.
 */
export async function invokeThroughKills(
  owner: Owner,
  { invocations, perKill }: { invocations: number; perKill: number },
): Promise<{ kills: number; succeeded: number; failed: Record<string, number> }> {
  const random = seededRandom('invocations')
  const counter = await countStarts(owner)
  const dataDir = tempDir(owner)
  const start = () =>
    startServer(owner, {
      hasRealInstances: true,
      hasOwnPostgres: true,
      dataDir,
      env: { BERTH_EGRESS_ALLOW: counter.allow },
    })
  let server = await start()
  await deploy(server, { files: countedApp(counter.url) })
  const acknowledged = new Set<string>()
  let kills = 0
  while (acknowledged.size < invocations) {
    const target = Math.min(invocations, acknowledged.size + random.integer(1, perKill))
    const send = async () => {
      while (acknowledged.size < target) {
        const payload = JSON.stringify({ ms: random.integer(0, 199) })
        const answer = await invoke(server, {
          app_name: 'counted',
          action_name: 'work',
          payload,
          async: true,
        })
        // The maximum is running: interrupted ones take their time.
        if (answer.status === 429) await delay(100)
        else {
          assert.equal(answer.status, 202, JSON.stringify(answer.body))
          acknowledged.add(answer.body.id)
        }
      }
    }
    await Promise.all(Array.from({ length: 4 }, () => send()))
    await delay(random.next() * 1500)
    server.process.kill('SIGKILL')
    await once(server.process, 'close')
    kills++
    server = await start()
  }
  const rows = await allEnded(server, 180_000)
  const known = new Set(rows.map(({ id }) => id))
  for (const id of acknowledged) assert.ok(known.has(id), `${id} was acknowledged and is gone`)
  for (const { id, status, reason } of rows) {
    const begun = counter.starts.get(id) ?? 0
    assert.ok(begun <= 1, `${id} began ${begun} times`)
    if (status === 'succeeded') assert.equal(begun, 1, `${id} succeeded without having begun`)
    else assert.match(reason ?? '', /^worker_lost/, `${id} failed`)
  }
  const ends = await query<{ invocation_id: string; count: string }>(
    server,
    "SELECT invocation_id, count(*) FROM app_events WHERE kind = 'invocation_state' GROUP BY invocation_id HAVING count(*) > 3",
  )
  assert.deepEqual(ends, [], 'no state was told twice')
  const failed: Record<string, number> = {}
  for (const { status, reason } of rows) {
    const why = reason?.split(':', 1)[0] ?? ''
    if (status === 'failed') failed[why] = (failed[why] ?? 0) + 1
  }
  return { kills, succeeded: rows.filter(({ status }) => status === 'succeeded').length, failed }
}
