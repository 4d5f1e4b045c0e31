import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { FrameSplitter } from '@berth/codecs/frames/frames'
import { SpoolReader } from './spool-reader.ts'
import { Spool, Spools } from './spool.ts'

const directory = mkdtempSync(join(tmpdir(), 'berth-spool-'))
after(() => rmSync(directory, { recursive: true }))

const KB = 1024
const newSpools = () =>
  new Spools({ directory, limits: { maxBytes: 64 * KB, maxBytesOfAll: 128 * KB, segmentBytes: 16 * KB } })

interface Read {
  readonly kind: number
  readonly text: string
}

async function readAll(spool: Spool): Promise<Read[]> {
  const splitter = new FrameSplitter({ maxBytes: 64 * KB })
  const read: Read[] = []
  for await (const chunk of new SpoolReader({ spool, lastEvent: () => ({ event: 'exit' }) })) {
    for (const { kind, payload } of splitter.split(chunk as Buffer)) {
      read.push({ kind, text: payload.toString('latin1') })
    }
  }
  assert.ok(splitter.isBetween)
  return read
}

const dataOf = (read: readonly Read[], kind: number) =>
  read
    .filter((each) => each.kind === kind)
    .map(({ text }) => text)
    .join('')
const eventsOf = (read: readonly Read[]) =>
  read.filter(({ kind }) => kind === 3).map(({ text }) => JSON.parse(text) as Record<string, unknown>)

test('every reader gets all output in order, however late it starts', async () => {
  const spool = new Spool(newSpools())
  const early = readAll(spool)
  spool.write(1, Buffer.from('one '))
  await new Promise(setImmediate)
  const between = readAll(spool)
  spool.write(2, Buffer.from('two '))
  spool.write(1, Buffer.from('three'))
  await new Promise(setImmediate)
  spool.end()
  const wanted = [
    { kind: 1, text: 'one ' },
    { kind: 2, text: 'two ' },
    { kind: 1, text: 'three' },
    { kind: 3, text: '{"event":"exit"}' },
  ]
  for (const read of [await early, await between, await readAll(spool)]) assert.deepEqual(read, wanted)
  assert.deepEqual(readdirSync(directory), [])
  spool.close()
})

test('beyond the limit the oldest output is dropped, and a reader learns how much it missed', async () => {
  const spools = newSpools()
  const spool = new Spool(spools)
  const written = randomBytes(200 * KB).toString('latin1')
  for (let at = 0; at < written.length; at += 1000) {
    spool.write(1, Buffer.from(written.slice(at, at + 1000), 'latin1'))
  }
  spool.end()
  assert.ok(spools.size <= 64 * KB && spools.size > 32 * KB, `${spools.size} bytes`)
  const read = await readAll(spool)
  const [cut, exit] = eventsOf(read)
  const kept = dataOf(read, 1)
  assert.equal(cut!['event'], 'cut')
  assert.equal(cut!['dropped_bytes'], written.length - kept.length)
  assert.equal(kept, written.slice(-kept.length))
  assert.deepEqual(exit, { event: 'exit' })
  spool.close()
  assert.equal(spools.size, 0)
})

test('a reader that falls behind misses a part, and only that part', async () => {
  const spool = new Spool(newSpools())
  const block = (name: string) => Buffer.alloc(8 * KB, name)
  spool.write(1, block('a'))
  const reader = new SpoolReader({ spool, lastEvent: () => ({}) })
  const splitter = new FrameSplitter({ maxBytes: 64 * KB })
  const first = splitter.split(reader.read() as Buffer)
  assert.equal(first[0]!.payload[0], 'a'.charCodeAt(0))
  for (const name of 'bcdefghijkl') spool.write(1, block(name))
  const [cut] = splitter.split(reader.read() as Buffer)
  const [frame] = splitter.split(reader.read() as Buffer)
  const { dropped_bytes } = JSON.parse(cut!.payload.toString()) as { dropped_bytes: number }
  const missed = dropped_bytes / (8 * KB)
  assert.ok(missed >= 4, `${missed} blocks`)
  assert.equal(frame!.payload[0], 'b'.charCodeAt(0) + missed)
  reader.destroy()
  spool.close()
})

test('all spools together stay within their limit, and the oldest output is dropped first', async () => {
  const spools = newSpools()
  const all = Array.from({ length: 4 }, () => new Spool(spools))
  for (const spool of all) {
    for (let count = 0; count < 50; count++) spool.write(2, Buffer.alloc(KB, 'x'))
    spool.end()
  }
  assert.ok(spools.size <= 128 * KB && spools.size > 96 * KB, `${spools.size} bytes`)
  assert.equal(eventsOf(await readAll(all[0]!)).length, 2)
  assert.equal(dataOf(await readAll(all[0]!), 2), '')
  assert.equal(dataOf(await readAll(all[3]!), 2).length, 50 * KB)
  for (const spool of all) spool.close()
  assert.equal(spools.size, 0)
})

test('output without room on the disk is lost, and readers learn of it', async () => {
  const spools = new Spools({
    directory: join(directory, 'missing'),
    limits: { maxBytes: 64 * KB, maxBytesOfAll: 64 * KB, segmentBytes: 16 * KB },
  })
  const spool = new Spool(spools)
  for (let count = 0; count < 1000; count++) spool.write(1, Buffer.alloc(100))
  spool.end()
  assert.deepEqual(eventsOf(await readAll(spool)), [
    { event: 'cut', dropped_bytes: 100_000 },
    { event: 'exit' },
  ])
})
