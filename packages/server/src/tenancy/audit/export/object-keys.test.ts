import assert from 'node:assert/strict'
import { test } from 'node:test'
import { objectKey, probeKey } from './object-keys.ts'

const window = { start: '2026-11-18 21:05:00.25+00', chunk: 3 }
const rest = 'destination_id=d1/org_id=org/date=2026-11-18/hour=21/20261118T210500.250000Z-0003.jsonl.gz'

test('a key names destination, organisation, date, hour, window and chunk', () => {
  assert.equal(objectKey({ id: 'd1', prefix: '' }, window), rest)
  for (const prefix of ['logs/berth', 'logs/berth/', '/logs/berth//']) {
    assert.equal(objectKey({ id: 'd1', prefix }, window), `logs/berth/${rest}`)
  }
})

test('windows that begin in the same second have different keys, and sort by time', () => {
  const starts = ['2026-11-18 21:05:00+00', '2026-11-18 21:05:00.000001+00', '2026-11-18 21:05:00.1+00']
  const keys = starts.map((start) => objectKey({ id: 'd', prefix: '' }, { start, chunk: 0 }))
  assert.equal(new Set(keys).size, 3)
  assert.deepEqual(keys.toSorted(), keys)
})

test('the object of a test is below the prefix, too', () => {
  assert.equal(probeKey({ prefix: 'a/' }, 'x'), 'a/.kernel-audit-log-export-test-x.jsonl.gz')
})
