import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test, type TestContext } from 'node:test'
import { pause } from '@berth/kit/pause'
import { durationOf, SoundOutput, type SoundPiece } from './sound-output.ts'

const directory = mkdtempSync(join(tmpdir(), 'berth-test-'))
after(() => rmSync(directory, { recursive: true }))

/** A sound server whose pieces the test sends. */
async function served(t: TestContext) {
  const path = join(directory, t.name.slice(0, 20).replaceAll(' ', '-'))
  const server = createServer().listen(path)
  await once(server, 'listening')
  t.after(() => void server.close())
  const pieces: SoundPiece[] = []
  const accepted = once(server, 'connection') as Promise<[Socket]>
  const output = new SoundOutput({
    isThere: true,
    isRunning: true,
    outputSocket: path,
    onRunning: () => ({ [Symbol.dispose]: () => {} }),
  })
  const listening = output.listen((piece) => pieces.push(piece))
  t.after(() => listening[Symbol.dispose]())
  const [socket] = await accepted
  t.after(() => socket.destroy())
  const until = async (count: number) => {
    while (pieces.length < count) await pause(5)
  }
  return { socket, pieces, listening, until }
}

const samplesOf = (ms: number, value = 1) => Buffer.alloc(Math.round(44.1 * ms) * 4, value)

test('pieces are whole, and say whether there is anything to hear', async (t) => {
  const { socket, pieces, until } = await served(t)
  const sent = samplesOf(20)
  socket.write(sent.subarray(0, 1_001))
  await until(1)
  socket.write(sent.subarray(1_001))
  await until(2)
  assert.ok(pieces.every(({ samples }) => samples.length % 4 === 0))
  assert.deepEqual(Buffer.concat(pieces.map(({ samples }) => samples)), sent)
  assert.ok(pieces.every(({ isSilent }) => !isSilent))
  socket.write(samplesOf(20, 0))
  await until(3)
  assert.ok(pieces[2]!.isSilent)
})

test('pieces that were held up have the times at which they were sent', async (t) => {
  const { socket, pieces, until } = await served(t)
  const startedAt = performance.now()
  for (let count = 1; count <= 10; count++) {
    socket.write(samplesOf(20))
    await until(count)
    await pause(Math.max(0, startedAt + count * 20 - performance.now()))
  }
  // As after a moment in which nobody could work.
  await pause(200)
  socket.write(samplesOf(200))
  await until(11)
  assert.ok(pieces.at(-1)!.at - pieces[0]!.at < 260, `${pieces.at(-1)!.at - pieces[0]!.at}`)
})

test('a gap moves all that follows', async (t) => {
  const { socket, pieces, until } = await served(t)
  socket.write(samplesOf(20))
  await until(1)
  await pause(400)
  const from = performance.now()
  let count = 1
  while (performance.now() - from < 2_400) {
    socket.write(samplesOf(20))
    await until(++count)
    await pause(Math.max(0, from + (count - 1) * 20 - performance.now()))
  }
  const late = performance.now() - pieces.at(-1)!.at
  assert.ok(late < 150, `${late} ms`)
})

test('no more comes out than there was time for', async (t) => {
  const { socket, pieces } = await served(t)
  const startedAt = performance.now()
  while (performance.now() - startedAt < 500) {
    if (!socket.write(samplesOf(100))) await once(socket, 'drain')
  }
  const seconds = durationOf(pieces.reduce((sum, { samples }) => sum + samples.length, 0)) / 1000
  assert.ok(seconds < 2.5, `${seconds} s`)
})

test('nobody is connected when nobody listens', async (t) => {
  const { socket, listening } = await served(t)
  listening[Symbol.dispose]()
  await once(socket, 'close')
})
