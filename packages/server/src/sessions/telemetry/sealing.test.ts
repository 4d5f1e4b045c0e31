import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Keyring } from '../../platform/secrets/keyring.ts'
import { SealedBox } from '../../platform/secrets/sealed-box.ts'
import { SegmentSeal } from './sealing.ts'

test('a segment is the same after it was sealed, also when much is packed into little', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'berth-test-'))
  t.after(() => rmSync(dataDir, { recursive: true }))
  const box = new SealedBox(await Keyring.open({ dataDir, fromSetting: [] }))
  const seal = SegmentSeal.open(box, 'session', SegmentSeal.make(box, 'session'))
  const place = { sessionId: 'session', firstSeq: 1 }
  const long = ['much that packs into little '.repeat(300_000)]
  for (const lines of [['one', 'two'], long, [randomBytes(200_000).toString('hex')]]) {
    const sealed = await seal.seal(lines, place)
    if (lines === long) assert.ok(sealed.length < 32 * 1024, `${sealed.length} bytes`)
    assert.deepEqual(await seal.open(sealed, place), lines)
    await assert.rejects(seal.open(sealed, { ...place, firstSeq: 2 }))
  }
})
