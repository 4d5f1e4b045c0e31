import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { BLOCK, WrongTar, writeHeader } from './header.ts'
import { readTar } from './reader.ts'
import { TAR_END, tarHead, tarPadding } from './writer.ts'

const NAMES = [
  'Local State',
  `Default/${'x'.repeat(90)}`,
  `${'d'.repeat(120)}/${'f'.repeat(99)}`,
  `${'d'.repeat(200)}/${'f'.repeat(150)}`,
  'Default/IndexedDB/https_ünïcode.example_0/漢字.log',
]
const contentOf = (name: string) => Buffer.from(name.repeat(40))

function archive(): Buffer {
  const pieces = NAMES.flatMap((path) => {
    const content = contentOf(path)
    return [
      tarHead({ path, kind: 'file', size: content.length, mtimeSeconds: 1_700_000_000 }),
      content,
      tarPadding(content.length),
    ]
  })
  const empty = tarHead({ path: 'Default/empty', kind: 'directory', size: 0, mtimeSeconds: 1 })
  return Buffer.concat([...pieces, empty, TAR_END])
}

/** In pieces of a size that fits nothing. */
function inPieces(bytes: Buffer, size = 313): Readable {
  return Readable.from(
    (function* () {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
    })(),
  )
}

async function read(bytes: Buffer) {
  const found: { path: string; kind: string; content: string }[] = []
  for await (const entry of readTar(inPieces(bytes))) {
    const content: Buffer[] = []
    for await (const piece of entry.content()) content.push(piece)
    found.push({ path: entry.path, kind: entry.kind, content: Buffer.concat(content).toString() })
  }
  return found
}

test('what is written can be read again, with names of any length', async () => {
  const found = await read(archive())
  assert.deepEqual(found, [
    ...NAMES.map((path) => ({ path, kind: 'file', content: contentOf(path).toString() })),
    { path: 'Default/empty/', kind: 'directory', content: '' },
  ])
})

test('content that nobody reads is skipped', async () => {
  const paths: string[] = []
  for await (const { path } of readTar(inPieces(archive()))) paths.push(path)
  assert.deepEqual(paths, [...NAMES, 'Default/empty/'])
})

test('the tar of the system reads our archives, and its archives are read', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'berth-tar-'))
  t.after(() => rmSync(directory, { recursive: true }))
  writeFileSync(join(directory, 'ours.tar'), archive())
  mkdirSync(join(directory, 'out'))
  execFileSync('tar', ['-xf', 'ours.tar', '-C', 'out'], { cwd: directory })
  for (const name of NAMES) assert.deepEqual(readFileSync(join(directory, 'out', name)), contentOf(name))

  mkdirSync(join(directory, 'in'))
  for (const name of NAMES) {
    mkdirSync(dirname(join(directory, 'in', name)), { recursive: true })
    writeFileSync(join(directory, 'in', name), contentOf(name))
  }
  symlinkSync('/etc/passwd', join(directory, 'in', 'link'))
  for (const format of ['gnu', 'pax', 'ustar']) {
    const usable = format === 'ustar' ? NAMES.filter((name) => name.length < 250) : NAMES
    const args = ['-cf', '-', `--format=${format}`, ...usable, 'link']
    const found = await read(execFileSync('tar', args, { cwd: join(directory, 'in') }))
    const expected = usable.map((path) => ({ path, kind: 'file', content: contentOf(path).toString() }))
    assert.deepEqual(found, [...expected, { path: 'link', kind: 'other', content: '' }], format)
  }
})

test('a file that is not an archive, or is damaged or cut off, is refused', async () => {
  const whole = archive()
  const damaged = Buffer.from(whole)
  damaged[3]! ^= 1
  const long = writeHeader({ path: 'x', typeFlag: 'x', size: 1 << 20, mode: 0, mtimeSeconds: 0 })
  const text = Buffer.alloc(4 * BLOCK, 'no archive')
  for (const wrong of [damaged, whole.subarray(0, 700), whole.subarray(0, 100), long, text]) {
    await assert.rejects(read(wrong), WrongTar)
  }
})

test('senseless records about an entry are refused at once', async () => {
  for (const text of ['no-blank', '99 path=b\n', 'x path=b\n', '0 path=b\n', '11 size=3x\n', ' ']) {
    const header = { path: 'PaxHeader', typeFlag: 'x', size: text.length, mode: 0o600, mtimeSeconds: 0 }
    const bytes = Buffer.concat([writeHeader(header), Buffer.from(text), tarPadding(text.length), TAR_END])
    await assert.rejects(read(bytes), WrongTar, text)
  }
})
