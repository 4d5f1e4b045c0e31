import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ByteReader } from './byte-reader.ts'

class CutOff extends Error {}

function reader(...pieces: string[]): ByteReader {
  async function* source() {
    for (const piece of pieces) yield Buffer.from(piece)
  }
  return new ByteReader(source(), { cutOff: () => new CutOff() })
}

test('a number of bytes is read across pieces', async () => {
  const bytes = reader('ab', '', 'cdefg', 'h')
  assert.equal((await bytes.read(3)).toString(), 'abc')
  assert.equal((await bytes.readSome(10))?.toString(), 'defg')
  assert.equal((await bytes.read(0)).toString(), '')
  await bytes.skip(1)
  assert.equal(await bytes.readUnlessEnded(1), undefined)
})

test('a cut-off read is distinguished from the end of the stream', async () => {
  await assert.rejects(reader('abc').read(4), CutOff)
  await assert.rejects(reader('abc').readUnlessEnded(4), CutOff)
  await assert.rejects(reader('abc').skip(4), CutOff)
  await assert.rejects(reader().read(1), CutOff)
})
