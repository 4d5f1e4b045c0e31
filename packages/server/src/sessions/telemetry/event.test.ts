import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { isCaptured, readAgentLine } from './event.ts'
import { linesOf } from './lines.ts'

const good = { ts: Date.now() * 1000, type: 'console_log', source: { kind: 'cdp' }, data: { text: 'x' } }
const read = (event: unknown, n: unknown = 1) => readAgentLine(JSON.stringify({ n, event }))

test('an event of an instance keeps its allowed fields', () => {
  const { position, event } = read({ ...good, truncated: true, category: 'control', extra: 1 }, 7)
  assert.equal(position, 7)
  assert.deepEqual(event, { ...good, category: 'console', truncated: true })
})

test('malformed events and types that an instance may not send are refused', () => {
  for (const event of [
    null,
    [],
    'x',
    { ...good, type: 'no_such' },
    { ...good, type: 'constructor' },
    { ...good, type: 'api_call' },
    { ...good, type: 'system_oom_kill' },
    { ...good, source: { kind: 'me' } },
    { ...good, source: undefined },
    { ...good, data: [] },
  ]) {
    assert.throws(() => read(event), JSON.stringify(event))
  }
  for (const n of [0, -1, 1.5, '1', null]) assert.throws(() => read(good, n))
  assert.throws(() => readAgentLine('no JSON'))
})

test('an implausible time is replaced', () => {
  for (const ts of [0, -1, 1e18, '1', null]) {
    assert.ok(Math.abs(read({ ...good, ts }).event.ts / 1000 - Date.now()) < 5_000, String(ts))
  }
})

test('monitor events are captured together with browser events', () => {
  assert.equal(isCaptured(['control'], 'monitor'), false)
  assert.equal(isCaptured(['console'], 'monitor'), true)
  assert.equal(isCaptured(['console'], 'network'), false)
  assert.equal(isCaptured(null, 'console'), false)
})

test('lines are found wherever the bytes are split, and a line that is too long throws', async () => {
  const text = 'one\ntwo\n\nthree\nrest'
  const pieces = [...Buffer.from(text)].map((byte) => Buffer.from([byte]))
  const lines: string[] = []
  for await (const each of linesOf(Readable.from(pieces), { maxBytes: 10 })) lines.push(...each)
  assert.deepEqual(lines, ['one', 'two', '', 'three'])
  await assert.rejects(
    linesOf(Readable.from([Buffer.alloc(11)]), { maxBytes: 10 }).next(),
    /longer than 10 bytes/,
  )
})
