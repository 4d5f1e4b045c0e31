import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contentsOf } from './contents.ts'
import { readDirectory, type ArchiveFile } from './directory.ts'
import { ZipWriter, type NewZipEntry } from './writer.ts'

const signal = new AbortController().signal
const modifiedAt = new Date('2024-02-03T04:05:06Z')
const file = (name: string): NewZipEntry => ({ name, kind: 'file', permissions: 0o640, modifiedAt })

async function* streamOf(...chunks: Buffer[]): AsyncGenerator<Buffer> {
  yield* chunks
}

function fileOf(bytes: Buffer): ArchiveFile {
  return {
    read: async (buffer, offset, length, position) => ({
      bytesRead: bytes.subarray(position, position + length).copy(buffer, offset),
    }),
  }
}

test('what is written can be read again', async () => {
  const zip = new ZipWriter()
  const long = Buffer.alloc(600_000, 'long ')
  const pieces = [
    zip.add({ ...file('dir/'), kind: 'directory', permissions: 0o755 }, Buffer.alloc(0)),
    zip.add(file('dir/ünïcode.txt'), Buffer.from('text text text text text')),
    zip.add(file('short'), Buffer.from('x')),
    zip.add({ ...file('link'), kind: 'link' }, Buffer.from('short')),
    ...(await Array.fromAsync(zip.addStream(file('long'), streamOf(long, Buffer.from('end')), 600_003))),
    ...zip.end(),
  ]
  const bytes = Buffer.concat(pieces)
  const archive = fileOf(bytes)
  const { entries, start } = await readDirectory(archive, bytes.length)
  const found = await Promise.all(
    entries.map(async (entry, index) => {
      const next = entries[index + 1]?.offset ?? start
      const content = Buffer.concat(await Array.fromAsync(contentsOf(archive, entry, { next, signal })))
      return [entry.kind, entry.name, entry.permissions, content.length, content.toString('latin1', 0, 4)]
    }),
  )
  assert.deepEqual(found, [
    ['directory', 'dir', 0o755, 0, ''],
    ['file', 'dir/ünïcode.txt', 0o640, 24, 'text'],
    ['file', 'short', 0o640, 1, 'x'],
    ['link', 'link', 0o640, 5, 'shor'],
    ['file', 'long', 0o640, 600_003, 'long'],
  ])
})
