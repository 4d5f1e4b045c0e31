import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LocalDriver } from '../local/local-driver.ts'
import { NoCapacity, NoGpu, type InstanceOptions } from '../driver/driver.ts'
import { KeeperCalls } from './keeper-calls.ts'
import { KeeperService } from './keeper-service.ts'
import type { FromKeeper } from './messages.ts'

const max = { memoryBytes: 100, processes: 10, cpus: 1, homeBytes: 100 }
const limits = { memoryBytes: 50, processes: 5, cpus: 0.5, homeBytes: 50 }
const id = 'instance1'

class FakeInstance {
  readonly id = id
  readonly calls: string[] = []
  readonly #ended = Promise.withResolvers<string>()
  readonly ended = this.#ended.promise
  readonly isPagedOut = true
  freeze = async () => void this.calls.push('freeze')
  pageOut = async () => {
    this.calls.push('pageOut')
    return { residentBytes: 1, swappedBytes: 2 }
  }
  setLimits = async () => void this.calls.push('setLimits')
  connectDirectly = () => undefined
  destroy = async () => this.#ended.resolve('destroyed')
}

const gpu = { gpus: [{ device: '/dev/nvidia0', name: 'NVIDIA L4' }], problems: [], isUnwanted: false }

const deepStandby = { place: 'zram', problem: undefined, isUnwanted: false }
const memory = {
  report: deepStandby,
  swap: { freeBytes: 3, totalBytes: 4 },
  uses: new Map([[id, { residentBytes: 1, swappedBytes: 2 }]]),
}

function keeper() {
  const sent: FromKeeper[] = []
  const abuses: string[] = []
  const started: InstanceOptions[] = []
  const instance = new FakeInstance()
  const driver = {
    capabilities: { headful: true, gpu, freeze: true, deepStandby, locales: new Set(['en-US']) },
    shortcomings: [],
    instancesDir: '/run/instances',
    start: async (options: InstanceOptions, signal: AbortSignal) => {
      started.push(options)
      if (options.gpu)
        throw started.length === 1 ? new NoGpu('it has vanished') : new NoCapacity('all are taken')
      if (options.isBackground)
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      return instance
    },
    adopt: async () => [instance],
    readMemory: async () => memory,
    close: async () => {},
  }
  const service = new KeeperService({
    send: async (message) => void sent.push(message),
    // SAFETY: the service calls nothing else of it.
    openDriver: async () => driver as unknown as LocalDriver,
    leaseSeconds: 7,
    max,
    goAhead: () => {},
    onAbuse: (reason) => abuses.push(reason),
  })
  return { service, sent, abuses, started, instance }
}

test('a request is answered under its number, and an end is reported before the answer to its cause', async () => {
  const { service, sent, started, instance } = keeper()
  await service.receive({ n: 0, ask: 'open' })
  await service.receive({
    n: 1,
    ask: 'start',
    id,
    limits,
    agent: { hostLoopback: false },
    isBackground: false,
    gpu: false,
  })
  await service.receive({ n: 2, ask: 'freeze', id })
  await service.receive({ n: 3, ask: 'connect', id })
  await service.receive({ n: 4, ask: 'destroy', id })
  await service.receive({ n: 5, ask: 'destroy', id })
  await service.receive({ n: 6, ask: 'thaw', id })
  assert.deepEqual(sent, [
    {
      n: 0,
      value: {
        headful: true,
        gpu,
        freeze: true,
        deepStandby,
        locales: ['en-US'],
        shortcomings: [],
        instancesDir: '/run/instances',
      },
    },
    { n: 1, value: null },
    { n: 2, value: null },
    { n: 3, value: false },
    { event: 'ended', id, end: 'destroyed' },
    { n: 4, value: null },
    { n: 5, value: null },
    { n: 6, failure: { messages: [`Cannot freeze or thaw instance "${id}": it has ended`] } },
  ])
  assert.deepEqual(instance.calls, ['freeze'])
  assert.equal(started[0]!.agent.leaseSeconds, 7, 'the lease is that of root')
})

test('what is malformed is refused by its number, and changes nothing', async () => {
  const { service, sent, abuses, started, instance } = keeper()
  await service.receive({ n: 0, ask: 'open' })
  await service.receive({ n: 1, ask: 'adopt' })
  await service.receive({
    n: 2,
    ask: 'start',
    id: '../x',
    limits,
    agent: {},
    isBackground: false,
    gpu: false,
  })
  await service.receive({ n: 3, ask: 'setLimits', id, limits: { ...limits, memoryBytes: 101 } })
  await service.receive({ n: 4, ask: 'exec', command: 'sh' })
  const failures = sent
    .slice(2)
    .map((message) => ('failure' in message ? message.failure.messages[0] : 'done'))
  assert.match(failures[0]!, /"start\.id" must match/)
  assert.equal(failures[1], 'Refused: "setLimits.limits.memoryBytes" must be a number from 1 to 100')
  assert.match(failures[2]!, /"ask" must be one of/)
  assert.deepEqual([started, instance.calls, abuses], [[], [], []])
})

test('a server that sends what is no request, or opens twice, gains nothing', async () => {
  const { service, sent, abuses } = keeper()
  await service.receive({ n: 1, ask: 'start', id, limits, agent: {}, isBackground: false, gpu: false })
  await service.receive({ n: 2, ask: 'open' })
  await service.receive({ n: 3, ask: 'open' })
  assert.deepEqual(sent[0], { n: 1, failure: { messages: ['Refused: the driver is not open'] } })
  assert.deepEqual(sent[2], { n: 3, failure: { messages: ['Refused: the driver is open already'] } })
  for (const message of ['open', null, { ask: 'open' }, { n: -1, ask: 'open' }])
    await service.receive(message)
  assert.deepEqual(new Set(abuses), new Set(['it sent a message without a number']))
})

test('a start is given up when the server asks for it', async () => {
  const { service, sent } = keeper()
  await service.receive({ n: 0, ask: 'open' })
  const starting = service.receive({
    n: 1,
    ask: 'start',
    id,
    limits,
    agent: {},
    isBackground: true,
    gpu: false,
  })
  await new Promise((resolve) => setImmediate(resolve))
  await service.receive({ n: 2, ask: 'cancel', of: 1 })
  await starting
  assert.deepEqual(sent.slice(1), [
    { n: 2, value: null },
    { n: 1, failure: { messages: ['the server gave it up'] } },
  ])
})

test('the server is told why there is no GPU, and can tell it from a failure', async () => {
  const { service, sent } = keeper()
  await service.receive({ n: 0, ask: 'open' })
  for (const n of [1, 2])
    await service.receive({ n, ask: 'start', id, limits, agent: {}, isBackground: false, gpu: true })
  assert.deepEqual(sent.slice(1), [
    { n: 1, failure: { messages: ['it has vanished'], kind: 'no-gpu' } },
    { n: 2, failure: { messages: ['all are taken'], kind: 'no-capacity' } },
  ])
  let answer: ((message: FromKeeper, handle: unknown) => void) | undefined
  const calls = new KeeperCalls(
    {
      send: (message) =>
        void setImmediate(() => answer!({ ...sent[1]!, n: (message as { n: number }).n }, undefined)),
      onMessage: (listener) => (answer = listener),
      onGone: () => {},
    },
    () => {},
  )
  await assert.rejects(
    calls.ask({ ask: 'adopt' }),
    (error) => error instanceof NoGpu && error.message === 'it has vanished',
  )
})

test('memory is moved for a known instance only, and what was moved stays so for the next server', async () => {
  const { service, sent, instance } = keeper()
  await service.receive({ n: 0, ask: 'open' })
  await service.receive({ n: 1, ask: 'pageOut', id })
  await service.receive({ n: 2, ask: 'adopt' })
  await service.receive({ n: 3, ask: 'pageOut', id })
  await service.receive({ n: 4, ask: 'pageOut', id: '../x' })
  await service.receive({ n: 5, ask: 'readMemory' })
  assert.deepEqual(instance.calls, ['pageOut'])
  assert.deepEqual(sent.slice(1, 4), [
    { n: 1, failure: { messages: [`Cannot freeze or thaw instance "${id}": it has ended`] } },
    { n: 2, value: [{ id, isPagedOut: true }] },
    { n: 3, value: { use: { residentBytes: 1, swappedBytes: 2 }, isPagedOut: true } },
  ])
  assert.match(JSON.stringify(sent[4]), /pageOut\.id/)
  assert.deepEqual(sent[5], {
    n: 5,
    value: { ...memory, uses: [[id, { residentBytes: 1, swappedBytes: 2 }]] },
  })
})
