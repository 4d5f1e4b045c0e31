import assert from 'node:assert/strict'
import { duplexPair } from 'node:stream'
import { test } from 'node:test'
import { readFirstLine } from './first-line.ts'

test('readFirstLine() finds a line in pieces and leaves what follows', async () => {
  const [ours, theirs] = duplexPair()
  const line = readFirstLine(ours, 20)
  theirs.write('hel')
  theirs.write('lo\nand ')
  assert.equal(await line, 'hello')
  theirs.end('more')
  let rest = ''
  for await (const piece of ours) rest += String(piece)
  assert.equal(rest, 'and more')
})

test('readFirstLine() refuses a long line, with or without an end', async () => {
  for (const text of ['123456', '123456\n']) {
    const [ours, theirs] = duplexPair()
    theirs.write(text)
    await assert.rejects(readFirstLine(ours, 5), /longer than 5 bytes/)
  }
})

test('readFirstLine() rejects when the stream ends or closes without a line', async () => {
  const [ours, theirs] = duplexPair()
  theirs.end('no end')
  await assert.rejects(readFirstLine(ours, 50), /ended before/)
  const [closed] = duplexPair()
  const line = readFirstLine(closed, 50)
  closed.destroy()
  await assert.rejects(line, /ended before/)
})
