// The TypeScript of the pages compiles for a reader, with the types of the published client.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { programOf } from './page-run.ts'
import { linkPackages, nameOf, pagesWithBlocks, root } from './pages.ts'

const OPTIONS = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'esnext', '--module', 'nodenext']

test('the TypeScript of every page has the right types', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'berth-types-'))
  t.after(() => rmSync(directory, { recursive: true }))
  linkPackages(directory)
  symlinkSync(join(root, 'node_modules/@types'), join(directory, 'node_modules/@types'))
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}')
  const files = pagesWithBlocks().map(({ path, blocks }) => {
    const file = `${nameOf(path)}.ts`
    writeFileSync(
      join(directory, file),
      programOf(blocks, (code) => code),
    )
    return file
  })
  const tsc = join(root, 'node_modules/.bin/tsc')
  const { status, stdout } = spawnSync(tsc, [...OPTIONS, '--types', 'node', ...files], {
    cwd: directory,
    encoding: 'utf8',
  })
  assert.equal(status, 0, stdout)
})
