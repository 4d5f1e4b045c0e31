import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { collectPassedPieces } from './collect-passed-pieces.ts'

const MB = 1024 * 1024
const PIECE_BYTES = 64 * 1024

/** Maximum memory of chunks in MB while 200 MB pass. */
async function maxHeldMb(prepare: (stream: Readable) => void): Promise<number> {
  let left = (200 * MB) / PIECE_BYTES
  const stream = new Readable({
    read() {
      this.push(left-- > 0 ? Buffer.allocUnsafeSlow(PIECE_BYTES) : null)
    },
  })
  prepare(stream)
  const before = process.memoryUsage().arrayBuffers
  let most = 0
  stream.on('data', () => {
    most = Math.max(most, process.memoryUsage().arrayBuffers - before)
  })
  await once(stream, 'end')
  return Math.round(most / MB)
}

test('collectPassedPieces collects passed chunks long before V8 would', async () => {
  const [uncounted, counted] = [await maxHeldMb(() => {}), await maxHeldMb(collectPassedPieces)]
  assert.ok(counted <= 16, `${counted} MB`)
  assert.ok(uncounted > 2 * counted, `${uncounted} MB without it: is it still needed?`)
})
