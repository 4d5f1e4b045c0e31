// Uses a session whose stub agent only reports how many programs run.
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { duplexPair, type Duplex } from 'node:stream'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import pino from 'pino'
import { PROCESSES_HEADER, type AgentState } from '@berth/contracts/link'
import type { Instance, InstanceEnd } from '../../instances/driver/driver.ts'
import { readText } from '../../instances/agent/answers.ts'
import { AgentClient } from '../../instances/agent/client.ts'
import { renewLease } from '../../instances/agent/state.ts'
import type { Collector } from '../telemetry/collector.ts'
import { LiveSession } from './live-session.ts'

const TIMEOUT_SECONDS = 0.4

class StubAgent {
  state: AgentState = {
    number: 1,
    browser: 'ready',
    devtools_path: null,
    browser_version: null,
    restarts: 0,
    failure: null,
    processes: 0,
  }
  readonly #server = createServer((request, response) => this.#answer(request, response))
  readonly #waiting = new Set<() => void>()

  readonly connect = async (): Promise<Duplex> => {
    const [ours, theirs] = duplexPair()
    this.#server.emit('connection', theirs)
    return Object.assign(ours, { ref() {}, unref() {}, setKeepAlive() {}, setTimeout() {} })
  }

  run(processes: number): void {
    this.state = { ...this.state, processes, number: this.state.number + 1 }
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    request.resume()
    const { processes, number } = this.state
    if (processes > 0) response.setHeader(PROCESSES_HEADER, String(processes))
    const answer = () => response.end(JSON.stringify(this.state))
    if (request.url === `/state?after=${number}`) this.#waiting.add(answer)
    else answer()
  }
}

function startSession(agent: StubAgent) {
  const ended = Promise.withResolvers<InstanceEnd>()
  // SAFETY: a session without standby uses no other members.
  const instance = {
    id: 'stub',
    connect: agent.connect,
    isFrozen: false,
    ended: ended.promise,
  } as Partial<Instance>
  const over = Promise.withResolvers<string>()
  const client = new AgentClient(instance as Instance)
  const session = new LiveSession({
    id: 'session',
    projectId: 'project',
    instance: instance as Instance,
    agent: client,
    // SAFETY: a session without telemetry uses no other members.
    telemetry: { publish: () => {} } as Partial<Collector> as Collector,
    timeoutSeconds: TIMEOUT_SECONDS,
    standby: null,
    uptimeMs: 0,
    hasProfile: false,
    log: pino({ level: 'silent' }),
    onStandby: () => {},
    onEnd: (_session, reason) => over.resolve(reason),
  })
  return { session, client, over: over.promise }
}

/** Forwards a call as the API does; the answer reports how many programs run. */
async function callThrough({ session }: ReturnType<typeof startSession>): Promise<void> {
  using loan = await session.lend()
  const answer = await loan.agent.forward({
    method: 'POST',
    path: '/control/process/spawn',
    headers: {},
    body: '{}',
    signal: session.ending,
    answerWithinMs: 60_000,
  })
  await readText(answer, { path: '', maxBytes: 1000 })
}

async function isOver(over: Promise<string>, ms: number): Promise<boolean> {
  return Promise.race([over.then(() => true), delay(ms, false)])
}

test('a running program keeps a session from timing out, and the timeout restarts when it ends', async () => {
  const agent = new StubAgent()
  const started = startSession(agent)
  agent.run(1)
  await callThrough(started)
  assert.ok(!(await isOver(started.over, 1000)), 'it timed out while a program ran')
  await callThrough(started)
  agent.run(0)
  const endedAt = performance.now()
  assert.equal(await started.over, 'timed_out')
  const idle = performance.now() - endedAt
  assert.ok(idle > 350 && idle < 800, `${idle} ms after the program`)
})

test('consecutive and parallel programs hold the session without a gap', async () => {
  const agent = new StubAgent()
  const started = startSession(agent)
  for (let count = 0; count < 20; count++) {
    agent.run(1)
    const calling = callThrough(started)
    // One answer may report both the end of a program and the start of the next.
    agent.run(0)
    agent.run(count % 3)
    agent.run(1)
    await calling
  }
  assert.ok(!(await isOver(started.over, 800)))
  agent.run(0)
  assert.equal(await started.over, 'timed_out')
})

test('a resumed session learns of running programs from the first state', async () => {
  const agent = new StubAgent()
  agent.run(2)
  const started = startSession(agent)
  await renewLease(started.client, 10, { signal: started.session.ending })
  assert.ok(!(await isOver(started.over, 800)))
  agent.run(0)
  assert.equal(await started.over, 'timed_out')
})

test('a call that starts no program leaves no hold behind', async () => {
  const started = startSession(new StubAgent())
  await callThrough(started)
  const calledAt = performance.now()
  assert.equal(await started.over, 'timed_out')
  assert.ok(performance.now() - calledAt < 800)
})
