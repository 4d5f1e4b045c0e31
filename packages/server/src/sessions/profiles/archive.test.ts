import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { BLOCK, writeHeader } from '@berth/codecs/tar/header'
import { readTar } from '@berth/codecs/tar/reader'
import { TAR_END, tarPadding } from '@berth/codecs/tar/writer'
import { ArchiveTooLarge, cleanArchive, WrongArchive } from './archive.ts'

interface Raw {
  readonly path: string
  readonly typeFlag?: string
  readonly content?: string
  readonly mode?: number
}

function entry({ path, typeFlag = '0', content = '', mode = 0o644 }: Raw): Buffer {
  const size = Buffer.byteLength(content)
  const head = writeHeader({ path, typeFlag, size, mode, mtimeSeconds: 5 })
  return Buffer.concat([head, Buffer.from(content), tarPadding(size)])
}

const GOOD = { path: 'Default/Preferences', content: '{}' }
const MB = 1024 * 1024

async function clean(source: Iterable<Buffer>, maxBytes = 10 * MB) {
  const pieces: Buffer[] = []
  for await (const piece of cleanArchive(Readable.from(source), { maxBytes })) pieces.push(piece)
  const found: Record<string, { kind: string; mode: number; content: string }> = {}
  for await (const one of readTar(Readable.from(pieces))) {
    const bytes: Buffer[] = []
    for await (const piece of one.content()) bytes.push(piece)
    found[one.path] = { kind: one.kind, mode: one.mode, content: Buffer.concat(bytes).toString() }
  }
  return found
}

const archiveOf = (...entries: Raw[]) => [...entries.map(entry), TAR_END]

test('files and directories are kept with normalised paths and modes', async () => {
  const found = await clean(
    archiveOf(
      { path: './', typeFlag: '5' },
      { path: './Default/Sessions/Tabs', content: 'tabs', mode: 0o6777 },
      { path: 'Default//Preferences', content: '{}' },
      { path: 'Default/', typeFlag: '5', mode: 0o7777 },
      { path: 'Local State', content: 'state' },
    ),
  )
  assert.deepEqual(found, {
    'Default/': { kind: 'directory', mode: 0o700, content: '' },
    'Default/Sessions/': { kind: 'directory', mode: 0o700, content: '' },
    'Default/Sessions/Tabs': { kind: 'file', mode: 0o600, content: 'tabs' },
    'Default/Preferences': { kind: 'file', mode: 0o600, content: '{}' },
    'Local State': { kind: 'file', mode: 0o600, content: 'state' },
  })
})

test('links, devices, pipes, caches and lock files of Chromium are left out', async () => {
  const flags = ['1', '2', '3', '4', '6', 'S', 'V', 'g', 'K']
  const found = await clean(
    archiveOf(
      GOOD,
      ...flags.map((typeFlag) => ({ path: `Default/odd-${typeFlag}`, typeFlag })),
      { path: 'Default/Cache/Cache_Data/data_0', content: 'x' },
      { path: 'GPUCache/data_0', content: 'x' },
      { path: 'SingletonLock', content: 'x' },
      { path: 'Default/Service Worker/CacheStorage/a/index', content: 'kept' },
      { path: 'Default/\u0007bell', content: 'x' },
      { path: `Default/${'x'.repeat(99)}/${'y'.repeat(90)}`, content: 'kept' },
    ),
  )
  const files = Object.keys(found).filter((path) => !path.endsWith('/'))
  assert.deepEqual(files, [
    'Default/Preferences',
    'Default/Service Worker/CacheStorage/a/index',
    `Default/${'x'.repeat(99)}/${'y'.repeat(90)}`,
  ])
})

test('paths outside of the root, duplicates and archives without a user-data directory are refused', async () => {
  const wrong: Raw[][] = [
    [GOOD, { path: '/etc/passwd', content: 'x' }],
    [GOOD, { path: '../outside', content: 'x' }],
    [GOOD, { path: 'Default/../../outside', content: 'x' }],
    [GOOD, { path: 'Default/..', typeFlag: '5' }],
    [GOOD, GOOD],
    [GOOD, { path: 'Default/Preferences/below', content: 'x' }],
    [
      { path: 'Default/a/b', content: 'x' },
      { path: 'Default/a', content: 'x' },
    ],
    [{ path: 'home/user/Default/Preferences', content: '{}' }],
    [],
  ]
  for (const entries of wrong) {
    await assert.rejects(clean(archiveOf(...entries)), WrongArchive, JSON.stringify(entries))
  }
  await assert.rejects(clean([Buffer.alloc(4 * BLOCK, 'text')]), WrongArchive)
  await assert.rejects(clean([entry(GOOD).subarray(0, 700)]), WrongArchive)
})

/** In large pieces, as they come from the network. */
function* many() {
  for (let number = 0; number <= 100_000; number += 1_000) {
    yield Buffer.concat(
      Array.from({ length: 1_000 }, (_, index) => entry({ path: `Default/${number + index}` })),
    )
  }
}

test('kept bytes, skipped bytes and entries are limited', async () => {
  const large = { path: 'Default/large', content: 'x'.repeat(2 * MB) }
  await assert.rejects(clean(archiveOf(GOOD, large), MB), ArchiveTooLarge)
  const skipped = { path: 'Default/Cache/large', content: 'x'.repeat(2 * MB) }
  assert.ok((await clean(archiveOf(GOOD, skipped), MB))['Default/Preferences'])
  await assert.rejects(clean(archiveOf(GOOD, skipped, skipped, skipped), MB), ArchiveTooLarge)
  await assert.rejects(clean(many(), 1000 * MB), ArchiveTooLarge)
  // A header may claim any size.
  const liar = writeHeader({ path: 'Default/x', typeFlag: '0', size: 8 ** 11 - 1, mode: 0, mtimeSeconds: 0 })
  function* endless() {
    yield liar
    for (;;) yield Buffer.alloc(64 * 1024)
  }
  await assert.rejects(clean(endless(), MB), ArchiveTooLarge)
})

const deep = (index: number) =>
  Array.from({ length: 30 }, (_, depth) => `${index}-${depth}-${'x'.repeat(20)}`)

function* deepEntries() {
  for (let index = 0; index < 5_000; index++) {
    const path = ['Default', ...deep(index), 'file'].join('/')
    const record = ` path=${path}\n`
    const length = record.length + String(record.length + 4).length
    yield entry({ path: 'about', typeFlag: 'x', content: `${length}${record}` })
    yield entry({ path: 'short' })
  }
  yield TAR_END
}

test('the names of all entries together are bounded, also those of directories that are made for them', async () => {
  const all = cleanArchive(Readable.from(deepEntries()), { maxBytes: 1024 * MB })
  await assert.rejects(async () => {
    for await (const piece of all) assert.ok(piece.length > 0)
  }, /the names of its entries are too long together/)
})
