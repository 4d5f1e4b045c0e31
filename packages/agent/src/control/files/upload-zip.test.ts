// Hostile archives of every kind are refused with the reason, and leave no files.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  appendFileSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { crc32, deflateRawSync } from 'node:zlib'
import {
  everythingIn,
  startControl,
  type ControlAnswer,
} from '../../../../../tests/fixtures/agent/control-under-test.ts'
import { archiveOf, type EntryOptions } from '../../../../../tests/fixtures/zip.ts'

const { directory, send } = await startControl()

function upload(archive: Buffer, into: string): Promise<ControlAnswer> {
  const body = new FormData()
  body.append('zip_file', new Blob([archive]), 'archive.zip')
  body.append('dest_path', into)
  return send('POST', '/fs/upload_zip', { body })
}

let cases = 0
const fresh = () => join(directory, `case-${cases++}`)
const LINK = 0o120777
const zeros = (megabytes: number) => Buffer.alloc(megabytes * 1024 * 1024)
const one = (entry: EntryOptions) => archiveOf([entry])
const normal: EntryOptions = { name: 'a', content: 'content' }

/** Many names for the same bytes, each inside the one before (Fifield). */
function overlapping(): Buffer {
  const kernel = deflateRawSync(zeros(1))
  const local = archiveOf([{ name: 'k', content: zeros(1) }])
  const bytes = { crc: crc32(zeros(1)), bytes: zeros(1).length, packedBytes: kernel.length, offset: 0 }
  const entries = Array.from({ length: 200 }, (_, index) => ({ name: `k${index}`, ...bytes }))
  const directoryStart = local.indexOf(Buffer.from('PK\x01\x02', 'latin1'))
  const whole = archiveOf(entries.map((entry) => ({ ...entry, content: '' })))
  const central = whole.subarray(whole.indexOf(Buffer.from('PK\x01\x02', 'latin1')))
  central.writeUInt32LE(directoryStart, central.length - 6)
  return Buffer.concat([local.subarray(0, directoryStart), central])
}

function zip64(entries: bigint, { bytes, start }: { bytes?: bigint; start?: bigint } = {}): Buffer {
  return archiveOf([normal], {
    count: 0xffff,
    beforeEnd: (directoryStart, directoryBytes) => {
      const record = Buffer.alloc(76)
      record.writeUInt32LE(0x06064b50, 0)
      record.writeBigUInt64LE(44n, 4)
      record.writeBigUInt64LE(entries, 24)
      record.writeBigUInt64LE(entries, 32)
      record.writeBigUInt64LE(bytes ?? BigInt(directoryBytes), 40)
      record.writeBigUInt64LE(start ?? BigInt(directoryStart), 48)
      record.writeUInt32LE(0x07064b50, 56)
      record.writeBigUInt64LE(BigInt(directoryStart + directoryBytes), 64)
      return record
    },
  })
}

const largeSize = Buffer.alloc(12)
largeSize.writeUInt16LE(1, 0)
largeSize.writeUInt16LE(8, 2)
largeSize.writeBigUInt64LE(1n << 60n, 4)

const hostile: Record<string, { archive: Buffer; reason: RegExp }> = {
  'a name with ..': { archive: one({ name: '../out' }), reason: /leads out/ },
  'a name with .. inside': { archive: one({ name: 'a/../../out' }), reason: /leads out/ },
  'an absolute name': { archive: one({ name: '/tmp/out' }), reason: /absolute/ },
  'a drive': { archive: one({ name: 'C:/out' }), reason: /absolute/ },
  'a drive with a backslash': { archive: one({ name: 'C:\\out' }), reason: /backslash/ },
  'a backslash': { archive: one({ name: '..\\out' }), reason: /backslash/ },
  'a NUL': { archive: one({ name: 'a\0b' }), reason: /NUL/ },
  'an empty name': { archive: one({ name: '' }), reason: /no name/ },
  'a name that is not UTF-8 though it says so': {
    archive: one({ name: Buffer.from([0xff, 0xfe]), flags: 0x800 }),
    reason: /UTF-8/,
  },
  'a long name': { archive: one({ name: 'x'.repeat(256) }), reason: /too long/ },
  'a name of 65 KB': { archive: one({ name: 'x/'.repeat(32_000) }), reason: /too long/ },
  'a link out': { archive: one({ name: 'l', content: '/etc', mode: LINK }), reason: /leads out/ },
  'a link up': { archive: one({ name: 'd/l', content: '../../x', mode: LINK }), reason: /leads out/ },
  'a link up by a detour': {
    archive: one({ name: 'l', content: 'a/../..', mode: LINK }),
    reason: /leads out/,
  },
  'a file through a link': {
    archive: archiveOf([{ name: 'l', content: 'd', mode: LINK }, { name: 'l/out' }]),
    reason: /in the way/,
  },
  'a file below a file': { archive: archiveOf([normal, { name: 'a/b' }]), reason: /in the way/ },
  'a device': { archive: one({ name: 'null', mode: 0o020666 }), reason: /device/ },
  'a pipe': { archive: one({ name: 'pipe', mode: 0o010666 }), reason: /device/ },
  'the same name twice': { archive: archiveOf([normal, normal]), reason: /twice/ },
  'names that differ in case': { archive: archiveOf([normal, { name: 'A' }]), reason: /twice/ },
  'an encrypted entry': { archive: one({ ...normal, flags: 1 }), reason: /encrypted/ },
  'an unknown method': { archive: one({ ...normal, method: 12 }), reason: /method 12/ },
  'overlapping entries': { archive: overlapping(), reason: /overlap/ },
  'two names for one place': {
    archive: archiveOf([
      { ...normal, content: 'x'.repeat(100), isStored: true },
      { name: 'b', content: 'x'.repeat(100), isStored: true, offset: 0 },
    ]),
    reason: /overlap|another name/,
  },
  'a ratio of 1000': { archive: one({ name: 'zeros', content: zeros(200) }), reason: /times as large/ },
  'a size that is too small': { archive: one({ ...normal, bytes: 3 }), reason: /lie|damaged/ },
  'a size that is too large': { archive: one({ ...normal, bytes: 1000 }), reason: /lie/ },
  'a large entry with a size that is too small': {
    archive: one({ name: 'a', content: randomBytes(600_000), bytes: 500_000 }),
    reason: /lie/,
  },
  'a stored size that is a lie': {
    archive: one({ ...normal, isStored: true, bytes: 1_000_000 }),
    reason: /lie/,
  },
  'a wrong checksum': { archive: one({ ...normal, crc: 1 }), reason: /checksum/ },
  'damaged content': {
    archive: one({ ...normal, content: Buffer.from([7, 7, 7, 7]), isStored: true, method: 8 }),
    reason: /damaged/,
  },
  'another name in the directory': { archive: one({ ...normal, localName: 'b' }), reason: /another name/ },
  'garbage after it': {
    archive: archiveOf([normal], { tail: Buffer.from('garbage') }),
    reason: /data after its end/,
  },
  'a directory elsewhere': { archive: archiveOf([normal], { directoryOffset: 7 }), reason: /not where/ },
  'more entries than there are': {
    archive: archiveOf([normal], { count: 9 }),
    reason: /too short|inconsistent/,
  },
  'fewer entries than there are': {
    archive: archiveOf([normal, { name: 'b' }], { count: 1 }),
    reason: /inconsistent/,
  },
  'a million entries': { archive: zip64(1_000_000n), reason: /entries|too short/ },
  'an impossible number of entries': { archive: zip64(1n << 63n), reason: /impossible/ },
  'an impossible directory': { archive: zip64(1n, { bytes: 1n << 50n }), reason: /not where/ },
  'a size of an exabyte': {
    archive: one({ ...normal, bytes: 0xffffffff, extra: largeSize }),
    reason: /impossible|times as large/,
  },
  nothing: { archive: Buffer.alloc(0), reason: /not a zip archive/ },
  text: { archive: Buffer.from('hello'.repeat(100)), reason: /not a zip archive/ },
}

for (const [what, { archive, reason }] of Object.entries(hostile)) {
  test(`an archive with ${what} is refused`, async () => {
    const into = fresh()
    const before = everythingIn(directory)
    const answer = await upload(archive, into)
    assert.equal(answer.code, 'bad_request', answer.message)
    assert.match(answer.message, reason)
    assert.deepEqual(everythingIn(directory), before)
  })
}

test('an archive that is cut off anywhere is refused', async () => {
  const archive = archiveOf([normal, { name: 'd/b', content: 'more' }])
  const before = everythingIn(directory)
  for (let length = 0; length < archive.length; length += 7) {
    const answer = await upload(archive.subarray(0, length), fresh())
    assert.equal(answer.code, 'bad_request', `${length}: ${answer.message}`)
  }
  assert.deepEqual(everythingIn(directory), before)
})

test('a good archive is unpacked with permissions, links and names of other code pages', async () => {
  const into = fresh()
  const answer = await upload(
    archiveOf([
      { name: 'bin/', mode: 0o040750 },
      { name: 'bin/run', content: '#!/bin/sh', mode: 0o100755 },
      { name: './x//y', content: 'y'.repeat(1_000_000), mode: 0o100600 },
      { name: 'bin/latest', content: '../x/y', mode: LINK },
      { name: Buffer.from('na\x8bve', 'latin1'), content: 'old' },
      { name: 'grün', content: '', flags: 0x800 },
    ]),
    into,
  )
  assert.equal(answer.status, 204, answer.message)
  assert.deepEqual(
    everythingIn(into),
    ['bin', 'bin/latest', 'bin/run', 'grün', 'naïve', 'x', 'x/y'].toSorted(),
  )
  assert.equal(lstatSync(join(into, 'bin/run')).mode & 0o777, 0o755)
  assert.equal(lstatSync(join(into, 'bin')).mode & 0o777, 0o750)
  assert.equal(readlinkSync(join(into, 'bin/latest')), '../x/y')
  assert.equal(readFileSync(join(into, 'x/y'), 'utf8'), 'y'.repeat(1_000_000))
})

test('existing files are replaced, or the whole archive is refused', async () => {
  const into = fresh()
  mkdirSync(join(into, 'd/sub'), { recursive: true })
  writeFileSync(join(into, 'd/kept'), 'kept')
  writeFileSync(join(into, 'd/old'), 'old')
  symlinkSync(directory, join(into, 'link'))
  const archive = archiveOf([
    { name: 'd/old', content: 'new' },
    { name: 'link/out', content: 'out' },
  ])
  const before = everythingIn(directory)
  assert.equal((await upload(archive, into)).code, 'conflict')
  assert.equal(
    (await upload(archiveOf([{ name: 'd/old', content: 'new' }, { name: 'd/sub' }]), into)).code,
    'conflict',
  )
  assert.equal(readFileSync(join(into, 'd/old'), 'utf8'), 'old')
  assert.equal((await upload(archive, join(into, 'd/kept'))).code, 'conflict')
  assert.deepEqual(everythingIn(directory), before)
  assert.equal((await upload(archiveOf([{ name: 'd/old', content: 'new' }]), into)).status, 204)
  assert.equal(readFileSync(join(into, 'd/old'), 'utf8'), 'new')
  assert.equal(readFileSync(join(into, 'd/kept'), 'utf8'), 'kept')
})

test('a form without archive or path, or with something else, is refused', async () => {
  for (const { name, value, reason } of [
    { name: 'dest_path', value: fresh(), reason: /no zip_file/ },
    { name: 'zip_file', value: 'x', reason: /no dest_path/ },
    { name: 'other', value: new Blob(['x']), reason: /"other"/ },
    { name: 'dest_path', value: 'relative', reason: /absolute/ },
  ]) {
    const body = new FormData()
    body.append(name, value)
    const answer = await send('POST', '/fs/upload_zip', { body })
    assert.equal(answer.code, 'bad_request')
    assert.match(answer.message, reason)
  }
})

test('packing a file that keeps growing still ends', async () => {
  const from = fresh()
  mkdirSync(from)
  writeFileSync(join(from, 'grows'), randomBytes(1_000_000))
  const growing = setInterval(() => appendFileSync(join(from, 'grows'), randomBytes(100_000)), 1)
  const packed = await send('GET', `/fs/download_dir_zip?path=${from}`)
  clearInterval(growing)
  const back = fresh()
  assert.equal((await upload(packed.body, back)).status, 204)
  assert.ok(lstatSync(join(back, 'grows')).size >= 1_000_000)
})

test('other programs can read a packed directory, and unpacking restores it', async () => {
  const from = fresh()
  mkdirSync(join(from, 'deep/empty'), { recursive: true })
  writeFileSync(join(from, 'small'), 'small', { mode: 0o700 })
  writeFileSync(join(from, 'deep/large'), Buffer.alloc(3_000_000, 'large '))
  writeFileSync(join(from, 'deep/mixed'), Buffer.concat([randomBytes(65_536), zeros(1)]))
  writeFileSync(
    Buffer.concat([Buffer.from(`${from}/`), Buffer.from([0xff, 0x41])]),
    'a name that is no UTF-8',
  )
  symlinkSync('/', join(from, 'root'))
  spawnSync('mkfifo', [join(from, 'pipe')])
  const packed = await send('GET', `/fs/download_dir_zip?path=${from}`)
  assert.equal(packed.status, 200)
  const file = join(directory, 'packed.zip')
  writeFileSync(file, packed.body)
  const { status, stdout } = spawnSync('unzip', ['-t', file], { encoding: 'utf8' })
  assert.equal(status, 0, stdout)
  assert.doesNotMatch(stdout, /pipe/)
  const back = fresh()
  // Everything except the link, which leads out.
  spawnSync('zip', ['-q', '-d', file, 'root'])
  assert.equal((await upload(readFileSync(file), back)).status, 204)
  for (const name of ['small', 'deep/large', 'deep/mixed']) {
    assert.deepEqual(readFileSync(join(back, name)), readFileSync(join(from, name)), name)
  }
  assert.equal(lstatSync(join(back, 'small')).mode & 0o777, 0o700)
  assert.ok(lstatSync(join(back, 'deep/empty')).isDirectory())
})
