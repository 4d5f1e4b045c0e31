// Uses a fifo in place of the kernel's file: what is written arrives there.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { findPrograms } from '../programs.ts'
import { pageOut } from './page-out.ts'

const { programs } = findPrograms()
const never = new AbortController().signal

function directory(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'berth-page-out-'))
  t.after(() => rmSync(path, { recursive: true }))
  return path
}

test('writes until the kernel has nothing more to move', async (t) => {
  const path = join(directory(t), 'memory.reclaim')
  // A directory cannot be written, as a group with nothing to move cannot.
  execFileSync('mkdir', [path])
  await pageOut({ path, value: '16M' }, { programs, signal: never })
  rmSync(path, { recursive: true })
  writeFileSync(path, '')
  await pageOut({ path, value: '0' }, { programs, signal: never })
  assert.equal(readFileSync(path, 'utf8'), '0\n')
})

test('ends soon after the signal, in the middle of the work', async (t) => {
  const path = join(directory(t), 'memory.reclaim')
  execFileSync('mkfifo', [path])
  const stop = new AbortController()
  const over = pageOut({ path, value: '16M' }, { programs, signal: stop.signal })
  const reader = await open(path, 'r')
  const { bytesRead } = await reader.read(Buffer.alloc(4))
  assert.equal(bytesRead, 4)
  stop.abort()
  await over
  await reader.close()
  await pageOut({ path, value: '16M' }, { programs, signal: stop.signal })
})
