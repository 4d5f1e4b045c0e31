import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { buildChunk, type Chunk } from './chunk.ts'
import type { ExportedRecord } from './store.ts'

const recordOf = (id: number, path = '/x') => {
  const time = `2026-11-18 21:00:00.${String(id).padStart(6, '0')}+00`
  return { id: String(id), path, recorded_at_exact: time } as ExportedRecord
}
const readerOf = (records: readonly ExportedRecord[]) => (after: { id: string }, limit: number) =>
  Promise.resolve(records.filter(({ id }) => Number(id) > Number(after.id)).slice(0, limit))
const start = { recordedAt: '2026-11-18 21:00:00+00', id: '0' }

async function chunksOf(records: readonly ExportedRecord[], options: Parameters<typeof buildChunk>[2]) {
  const chunks: Chunk[] = []
  let after = start
  for (;;) {
    const chunk = await buildChunk(readerOf(records), after, options)
    chunks.push(chunk)
    if (chunk.isLast) return chunks
    after = chunk.last!
  }
}

const idsIn = (chunks: readonly Chunk[]) =>
  chunks.flatMap(({ body }) =>
    body === undefined
      ? []
      : gunzipSync(body)
          .toString()
          .trimEnd()
          .split('\n')
          .map((line) => Number((JSON.parse(line) as { event_id: string }).event_id)),
  )

test('the chunks of a window have every record once, whatever the batches and bounds', async () => {
  for (const count of [0, 1, 4, 5, 6, 23]) {
    const records = Array.from({ length: count }, (_, index) => recordOf(index + 1))
    for (const batch of [1, 5, 7, 100]) {
      for (const maxRows of [1, 5, 10, 100]) {
        const chunks = await chunksOf(records, { batch, maxRows })
        assert.deepEqual(
          idsIn(chunks),
          records.map(({ id }) => Number(id)),
          `${count} records, batches of ${batch}, chunks of ${maxRows}`,
        )
        assert.ok(chunks.every(({ rows }) => rows <= maxRows))
      }
    }
  }
})

test('a chunk has the same bytes each time, and ends before it would be too large', async () => {
  const records = Array.from({ length: 50 }, (_, index) => recordOf(index + 1, 'x'.repeat(100 + index)))
  const bodiesOf = async (batch: number) =>
    (await chunksOf(records, { batch, maxBytes: 1_000 })).flatMap(({ body }) => body ?? [])
  const bodies = await bodiesOf(7)
  assert.ok(bodies.length > 5)
  for (const body of bodies) assert.ok(gunzipSync(body).length <= 1_000)
  assert.deepEqual(await bodiesOf(50), bodies)
  const [alone] = await chunksOf([recordOf(1, 'x'.repeat(5_000))], { batch: 5, maxBytes: 1_000 })
  assert.equal(alone!.rows, 1, 'a record that is larger than a chunk has one of its own')
})
