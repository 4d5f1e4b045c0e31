import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TelemetryEvent } from '@berth/contracts/telemetry'
import { partialSuccess, readExport } from '../../../../../../tests/fixtures/otlp.ts'
import { encodeLogs, readRejected } from './log-records.ts'

const version = '1.2.3'
const event = (seq: number, rest: Partial<TelemetryEvent['event']> = {}): TelemetryEvent => ({
  seq,
  event: {
    ts: 1_790_000_000_123_456,
    type: 'console_log',
    category: 'console',
    source: { kind: 'cdp' },
    ...rest,
  },
})
const exported = (events: TelemetryEvent[]) =>
  readExport(encodeLogs([{ sessionId: 'a', projectId: 'p', events }], { version }))

test('a log record has all of its event, as OpenTelemetry reads it', () => {
  const data = {
    text: 'déjà vu \u{1f600} \u0000',
    empty: '',
    yes: true,
    no: false,
    nothing: null,
    zero: 0,
    negative: -5,
    large: Number.MAX_SAFE_INTEGER,
    small: Number.MIN_SAFE_INTEGER,
    half: 0.5,
    huge: 1e300,
    list: [1, 'two', [3, null], { four: 4 }],
    object: { a: { b: {} } },
    'a.b "c"': [],
  }
  const events = [
    event(1, { data }),
    event(2),
    event(3, { source: { kind: 'extension', event: 'x', metadata: { a: 'b' } }, truncated: true, data: {} }),
    event(9_007_199_254_740_991, { type: 'console_error' }),
  ]
  const read = exported(events)
  assert.deepEqual(
    read.map(({ seq, event: its }) => ({ seq, event: its })),
    events,
  )
  assert.deepEqual(
    read.map(({ severity }) => severity),
    ['INFO', 'INFO', 'INFO', 'ERROR'],
  )
  assert.deepEqual(read[0]!.resource, {
    'service.name': 'berth',
    'service.version': version,
    'berth.project.id': 'p',
    'berth.session.id': 'a',
  })
})

test('several sessions are several resources', () => {
  const read = readExport(
    encodeLogs(
      [
        { sessionId: 'a', projectId: 'p', events: [event(1), event(2)] },
        { sessionId: 'b', projectId: 'p', events: [event(1)] },
      ],
      { version },
    ),
  )
  assert.deepEqual(
    read.map(({ sessionId, seq }) => `${sessionId}${seq}`),
    ['a1', 'a2', 'b1'],
  )
})

test('deep values become JSON, because receivers bound the depth of messages', () => {
  let deep: object = { bottom: true }
  for (let level = 0; level < 150; level++) deep = { deep }
  const [{ event: read } = assert.fail()] = exported([event(1, { data: { deep } })])
  let value: unknown = read.data
  let levels = 0
  for (; typeof value === 'object'; levels++) value = (value as { deep: unknown }).deep
  assert.ok(levels < 20, String(levels))
  assert.match(value as string, /^\{"deep":.*\{"bottom":true\}\}+$/)
})

test('half a surrogate pair does not make an invalid message', () => {
  const [{ event: read } = assert.fail()] = exported([event(1, { data: { text: 'a\ud800b' } })])
  assert.deepEqual(read.data, { text: 'a\ufffdb' })
})

test("a collector's partial success is read", () => {
  assert.equal(readRejected(partialSuccess(12, 'too old')), 12)
  assert.equal(readRejected(new Uint8Array()), 0)
})
