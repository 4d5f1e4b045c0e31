// A hostile program replaces the agent of an instance and answers as badly as it can. It must not disturb the server or
// another session.
import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { cleanUpAfter } from '../fixtures/cleanup.ts'
import { startServer, tempDir } from '../fixtures/server.ts'
import { createSession, send } from '../fixtures/sessions.ts'

const owner = { after }
const server = await startServer(owner, { env: { BERTH_RATE_LIMIT_PER_MINUTE: '100000' } })
const HELD = 100
const READERS = 4
const CALLS = 150
/** A busy machine makes all calls slow; an occupied event loop makes them slower by seconds. */
const MAX_SLOWER_MS = 1_000
const MAX_P50_MS = 100
const MAX_GROWTH_MB = 128

async function startHostileAgent(): Promise<string> {
  const path = join(tempDir(owner), 'agent.sock')
  const program = join(import.meta.dirname, '../fixtures/fake/hostile-agent.ts')
  const child = spawn(process.execPath, [program, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  cleanUpAfter(owner, async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  await once(child.stdout, 'data')
  return path
}

/** Faster than footprintOf(), because it runs while latencies are measured. */
function rssMb(): number {
  const status = readFileSync(`/proc/${server.pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)![1]) / 1024
}

const execute = (id: string) => `/browsers/${id}/playwright/execute`

/** Sends a call and does not read its answer. */
function hold(id: string, code: string): { answer: Promise<IncomingMessage>; cut: () => void } {
  const sent = request(server.url + execute(id), {
    method: 'POST',
    headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' },
  })
  sent.on('error', () => {})
  sent.end(JSON.stringify({ code }))
  const answer = new Promise<IncomingMessage>((resolve) => sent.once('response', resolve))
  return { answer, cut: () => sent.destroy() }
}

/** Reads floods of values, one after another. A separate process, because this one measures latencies. */
function startReaders(id: string): ChildProcess {
  const script = `
    const [url, key] = process.argv.slice(1)
    const headers = { authorization: 'Bearer ' + key, 'content-type': 'application/json' }
    const read = async () => {
      for (;;) {
        const answer = await fetch(url, { method: 'POST', headers, body: '{"code":"lists"}' })
        for await (const _ of answer.body);
      }
    }
    for (let count = 0; count < ${READERS}; count++) void read()`
  const args = ['-e', script, server.url + execute(id), server.key]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  cleanUpAfter(owner, () => void child.kill('SIGKILL'))
  return child
}

/** The latencies of small calls, one after another, sorted. */
async function latenciesOf(id: string): Promise<number[]> {
  const all: number[] = []
  for (let count = 0; count < CALLS; count++) {
    const startedAt = performance.now()
    const { status } = await send(server, 'POST', `/browsers/${id}/process/exec`, { command: 'true' })
    assert.equal(status, 200)
    all.push(performance.now() - startedAt)
  }
  return all.toSorted((a, b) => a - b)
}
const p99Of = (sorted: readonly number[]) => sorted[Math.floor(sorted.length * 0.99)]!

const wellBehaved = await createSession(server)
const hostile = await createSession(server)
const replaced = await send(server, 'POST', `/browsers/${hostile.session_id}/process/exec`, {
  command: 'replace-agent',
  args: [await startHostileAgent()],
})
assert.equal(replaced.status, 200)

test('a large answer arrives unchanged, and an endless answer is cut', async () => {
  const { status, body } = await send<{ result: unknown[] }>(server, 'POST', execute(hostile.session_id), {
    code: 'lists',
  })
  assert.equal(status, 200)
  assert.equal(body.result.length, 2_700_001)
  const failed = await send(server, 'POST', execute(hostile.session_id), { code: 'errors' })
  assert.equal(failed.status, 503)
})

test(
  'a hundred open answers and floods of values do not disturb another session',
  { timeout: 300_000 },
  async (t) => {
    const { session_id: id } = hostile
    await latenciesOf(wellBehaved.session_id)
    const before = await latenciesOf(wellBehaved.session_id)
    const memory = rssMb()
    const held = Array.from({ length: HELD }, (_, index) => hold(id, index % 4 === 0 ? 'drip' : 'held'))
    await Promise.all(held.filter((_, index) => index % 4 !== 0).map(({ answer }) => answer))
    const readers = startReaders(id)
    let most = 0
    const watch = setInterval(() => (most = Math.max(most, rssMb())), 50)
    const during = await latenciesOf(wellBehaved.session_id)
    clearInterval(watch)
    readers.kill('SIGKILL')
    await once(readers, 'exit')
    for (const { cut } of held) cut()
    const p50 = `p50 ${before[CALLS / 2]!.toFixed(1)}, ${during[CALLS / 2]!.toFixed(1)} ms; `
    const figures = `${p50}p99 ${p99Of(before).toFixed(1)} ms before, ${p99Of(during).toFixed(1)} ms during; RSS +${(most - memory).toFixed(0)} MB`
    t.diagnostic(figures)
    assert.ok(p99Of(during) - p99Of(before) < MAX_SLOWER_MS, figures)
    assert.ok(during[CALLS / 2]! < MAX_P50_MS, figures)
    assert.ok(most - memory < MAX_GROWTH_MB, figures)
  },
)
