// What comes of an X server that says an update by little pieces: it is played here, over real sockets.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test, type TestContext } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { Display } from '../display/display.ts'
import { SoundOutput } from '../sound/sound-output.ts'
import { watchDisplay } from './display-viewer.ts'

const directory = mkdtempSync(join(tmpdir(), 'berth-test-'))
after(() => rmSync(directory, { recursive: true }))
const server = createServer({ pauseOnConnect: true }).listen(join(directory, 'socket'))
await once(server, 'listening')
after(() => void server.close())

const PIECES = 200
const PIECE = 100
/** Never asked for anything: nothing moves. */
const display = {} as Display
const sound = new SoundOutput({
  isThere: false,
  isRunning: false,
  outputSocket: '',
  onRunning: () => ({ [Symbol.dispose]: () => {} }),
})
const OPENING = Buffer.concat([
  Buffer.from('RFB 003.008\n'),
  Buffer.from([1, 1]),
  Buffer.from([0, 0, 0, 0]),
  Buffer.alloc(24),
])

async function pair(t: TestContext): Promise<{ far: Socket; near: Socket }> {
  const accepted = once(server, 'connection') as Promise<[Socket]>
  const far = connect(join(directory, 'socket'))
  const [near] = await accepted
  t.after(() => [far, near].forEach((socket) => socket.destroy()))
  return { far, near }
}

/** A viewer and the X server it watches, after their opening. */
async function watching(t: TestContext, { bits, depth }: { bits: number; depth: number }) {
  const [viewer, screen] = [await pair(t), await pair(t)]
  watchDisplay(viewer.near, screen.near, { display, sound })
  const received: Buffer[] = []
  viewer.far.on('data', (chunk: Buffer) => received.push(chunk))
  const has = async (bytes: number) => {
    while (Buffer.concat(received).length < bytes) await once(viewer.far, 'data')
    return received.splice(0)
  }
  screen.far.write(OPENING)
  await has(OPENING.length)
  const pixelFormat = Buffer.alloc(20)
  pixelFormat.set([bits, depth], 4)
  const said = Buffer.concat([Buffer.from('RFB 003.008\n'), Buffer.from([1]), Buffer.from([1]), pixelFormat])
  let heard = 0
  const isHeard = new Promise<void>((resolve) => {
    screen.far.on('data', (chunk: Buffer) => (heard += chunk.length) >= said.length && resolve())
  })
  viewer.far.write(said)
  await isHeard
  return { screen: screen.far, viewer: viewer.far, has }
}

/** Of one raw rectangle, in lengths of its own. */
function update(pieces: number): Buffer[] {
  const head = Buffer.alloc(16)
  head.writeUInt16BE(1, 2)
  head.writeUInt16BE((pieces * PIECE) / 4, 8)
  head.writeUInt16BE(1, 10)
  return [head, ...Array.from({ length: pieces }, (_each, index) => Buffer.alloc(PIECE, index))]
}

async function say(screen: Socket, pieces: readonly Buffer[]): Promise<void> {
  for (const piece of pieces) {
    screen.write(piece)
    await turn()
    await turn()
  }
}

test('the pieces of an update go on together, and all of them', async (t) => {
  const { screen, has } = await watching(t, { bits: 32, depth: 24 })
  const pieces = update(PIECES)
  await say(screen, pieces)
  const received = await has(PIECES * PIECE + 16)
  assert.deepEqual(Buffer.concat(received), Buffer.concat(pieces))
  assert.ok(received.length < 5, `in ${received.length} pieces`)
})

test('a long update does not wait for its end, and what comes after one does not wait at all', async (t) => {
  const { screen, has } = await watching(t, { bits: 32, depth: 24 })
  const pieces = update(10 * PIECES)
  await say(screen, pieces.slice(0, 5 * PIECES))
  const early = await has(PIECES * PIECE)
  await say(screen, [...pieces.slice(5 * PIECES), Buffer.from([2])])
  const sent = Buffer.concat([...pieces, Buffer.from([2])])
  const late = await has(sent.length - Buffer.concat(early).length)
  assert.deepEqual(Buffer.concat([...early, ...late]), sent)
})

test('an update that is whole does not wait for the next one that has begun', async (t) => {
  const { screen, has } = await watching(t, { bits: 32, depth: 24 })
  const [whole, [head]] = [Buffer.concat(update(2)), update(2)]
  screen.write(Buffer.concat([whole, head!]))
  assert.deepEqual(Buffer.concat(await has(whole.length)).subarray(0, whole.length), whole)
})

test('an X server that ends within an update has said what it said', async (t) => {
  const { screen, viewer, has } = await watching(t, { bits: 32, depth: 24 })
  const [head, one] = update(PIECES)
  const over = once(viewer, 'end')
  screen.end(Buffer.concat([head!, one!]))
  assert.equal(Buffer.concat(await has(16 + PIECE)).length, 16 + PIECE)
  await over
})

test('where pixels have other lengths nothing waits', async (t) => {
  const { screen, has } = await watching(t, { bits: 16, depth: 16 })
  const [head, one] = update(PIECES)
  screen.write(Buffer.concat([head!, one!]))
  assert.equal(Buffer.concat(await has(16 + PIECE)).length, 16 + PIECE)
})
