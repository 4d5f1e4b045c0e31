import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { zipDirectory } from './archive.ts'
import { unzip } from './unzip.ts'

function directoryOf(t: TestContext, files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'berth-zip-'))
  t.after(() => rmSync(root, { recursive: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  return root
}

test('a deployment has exactly the files that git would take', async (t) => {
  const root = directoryOf(t, {
    '.gitignore': 'node_modules/\n*.log\n/build\n!keep.log\n',
    'index.ts': '',
    '.env.example': '',
    'keep.log': '',
    'debug.log': '',
    'build/out.js': '',
    'src/build/in.ts': '',
    'src/.gitignore': '*.tmp\n',
    'src/a.tmp': '',
    'other/a.tmp': '',
    'node_modules/x/index.js': '',
    'deep/node_modules/y.js': '',
  })
  execFileSync('git', ['init', '-q'], { cwd: root })
  const taken = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  })
  const { files } = await zipDirectory(root, { followsGit: true })
  assert.deepEqual(files.toSorted(), taken.trim().split('\n').toSorted())
})

test('an app in a repository is packed by the rules above it, too', async (t) => {
  const root = directoryOf(t, {
    '.gitignore': '*.secret\n/apps/one/local\n',
    'apps/one/main.py': '',
    'apps/one/a.secret': '',
    'apps/one/local': '',
  })
  execFileSync('git', ['init', '-q'], { cwd: root })
  const { files } = await zipDirectory(join(root, 'apps/one'), { followsGit: true })
  assert.deepEqual(files, ['main.py'])
})

test('.ignore works like .gitignore, and without a repository', async (t) => {
  const root = directoryOf(t, { '.ignore': 'data\n', 'main.py': '', 'data/big': '' })
  assert.deepEqual((await zipDirectory(root, { followsGit: true })).files, ['.ignore', 'main.py'])
})

test('what is packed is unpacked the same, with links left out', async (t) => {
  const root = directoryOf(t, { 'run.sh': '#!/bin/sh\n', 'a/b/c.txt': 'x'.repeat(300_000), 'ünï.txt': 'ü' })
  chmodSync(join(root, 'run.sh'), 0o755)
  symlinkSync('/etc/passwd', join(root, 'link'))
  const { bytes, files } = await zipDirectory(root)
  assert.deepEqual(files, ['a/b/c.txt', 'link', 'run.sh', 'ünï.txt'])
  const out = directoryOf(t, {})
  writeFileSync(join(out, 'archive.zip'), bytes)
  mkdirSync(join(out, 'to'))
  await assert.rejects(
    unzip(join(out, 'archive.zip'), join(out, 'to'), AbortSignal.abort(new Error('stopped'))),
  )
  await unzip(join(out, 'archive.zip'), join(out, 'to'), new AbortController().signal)
  assert.equal(readFileSync(join(out, 'to/a/b/c.txt'), 'utf8'), 'x'.repeat(300_000))
  assert.equal(readFileSync(join(out, 'to/ünï.txt'), 'utf8'), 'ü')
  assert.equal(statSync(join(out, 'to/run.sh')).mode & 0o111, 0o111)
  assert.throws(() => statSync(join(out, 'to/link')), /ENOENT/)
})

test('a directory that is too large is refused before anything is sent', async (t) => {
  const root = directoryOf(t, { a: 'x'.repeat(1000) })
  await assert.rejects(zipDirectory(root, { maxBytes: 999 }), /has more than 999 B/)
})
