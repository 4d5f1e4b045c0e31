import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { readBounded } from './read-bounded.ts'

const options = { maxBytes: 4, tooLarge: () => new Error('too large') }

test('a stream up to the bound is read as a whole', async () => {
  const stream = Readable.from([Buffer.from('ab'), Buffer.from('cd')])
  assert.equal((await readBounded(stream, options)).toString(), 'abcd')
  assert.equal((await readBounded(Readable.from([]), options)).length, 0)
})

test('a stream beyond the bound is refused, and its rest is not read', async () => {
  let taken = 0
  const source = (async function* () {
    for (;;) {
      taken++
      yield Buffer.from('abc')
    }
  })()
  await assert.rejects(readBounded(source, options), { message: 'too large' })
  assert.equal(taken, 2)
})

test('a stream that breaks off rejects with its own error', async () => {
  const source = (async function* () {
    yield Buffer.from('a')
    throw new Error('cut off')
  })()
  await assert.rejects(readBounded(source, options), { message: 'cut off' })
})
