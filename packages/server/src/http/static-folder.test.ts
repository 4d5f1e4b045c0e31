import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { StaticFolder } from './static-folder.ts'

test('a file that is being replaced is asked for again, and found when it is back', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'berth-static-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const file = join(directory, 'index.html')
  writeFileSync(file, 'first')
  const folder = new StaticFolder({ directory, what: 'page' })
  const read = async () => {
    const { body } = await folder.answer('index.html', '', "default-src 'none'")
    return text(body as Readable)
  }
  assert.equal(await read(), 'first')
  rmSync(file)
  await assert.rejects(read, {
    code: 'unavailable',
    message: /^Cannot show the page: its files are being replaced; try/,
  })
  writeFileSync(file, 'the second')
  assert.equal(await read(), 'the second')
})
