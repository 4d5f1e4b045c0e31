import assert from 'node:assert/strict'
import { test } from 'node:test'
import { archiveOf } from '../../../../tests/fixtures/zip.ts'
import { readDirectory, type ArchiveFile } from './directory.ts'

function fileOf(bytes: Buffer): ArchiveFile {
  return {
    read: async (buffer, offset, length, position) => ({
      bytesRead: bytes.subarray(position, position + length).copy(buffer, offset),
    }),
  }
}

test('names with thousands of directories are refused: looking at each would take minutes', async () => {
  const deep = archiveOf([{ name: `${'d/'.repeat(65)}x` }])
  await assert.rejects(readDirectory(fileOf(deep), deep.length), /is more than 64 directories deep/)
  const usual = archiveOf([{ name: `${'d/'.repeat(63)}x` }])
  assert.equal((await readDirectory(fileOf(usual), usual.length)).entries.length, 1)
})

test('a large directory is read in pieces, so that others get their turns', async () => {
  const names = Array.from({ length: 2_000 }, (_, index) => `${index}/${'d/'.repeat(50)}x`)
  const archive = archiveOf(names.map((name) => ({ name, isStored: true })))
  let turns = 0
  const next = () => {
    turns++
    immediate = setImmediate(next)
  }
  let immediate = setImmediate(next)
  await readDirectory(fileOf(archive), archive.length)
  clearImmediate(immediate)
  assert.ok(turns >= 10, `${turns} turns`)
})
