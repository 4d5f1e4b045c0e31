// Compares the documentation with the code without running anything: links, names of settings, tables of errors, scopes
// and ends.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { endReasons } from '@berth/contracts/browsers'
import { errorCatalogue, errorCodes } from '@berth/contracts/errors'
import { scopes } from '@berth/contracts/scopes'
import { endings } from '../../packages/server/src/sessions/gateway/endings.ts'
import { PRIVILEGES } from '../image/privileges.ts'
import { folderPages, pages, root } from './pages.ts'

const all = pages()
const pageOf = (path: string) => readFileSync(join(root, path), 'utf8')

test('every link leads to a file, and to a heading of it', () => {
  const broken: string[] = []
  for (const { path, markdown } of [...all, ...folderPages()]) {
    const prose = markdown.replaceAll(/```[^]*?```/g, '')
    for (const [, target] of prose.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target!)) continue
      const [file = '', anchor] = target!.split('#')
      const to = file === '' ? path : join(dirname(path), file)
      const isThere =
        existsSync(join(root, to)) && (anchor === undefined || anchors(pageOf(to)).includes(anchor))
      if (!isThere) broken.push(`${path}: ${target}`)
    }
  }
  assert.deepEqual(broken, [])
})

test('every claim of SECURITY.md names a test that exists', () => {
  const [, protectedPart = ''] = /^## What is protected[^\n]*\n([^]*?)^## /m.exec(pageOf('SECURITY.md')) ?? []
  const claims = protectedPart.split('\n').filter((line) => line.startsWith('- '))
  assert.ok(claims.length > 20, String(claims.length))
  const untested = claims.filter((claim) => {
    const tests = [...claim.matchAll(/`((?:tests|packages|scripts)\/[\w./-]+\.test\.ts)`/g)].map(
      ([, file]) => file!,
    )
    return tests.length === 0 || !tests.every((file) => existsSync(join(root, file)))
  })
  assert.deepEqual(untested, [])
})

/** The ids that GitHub gives to headings. */
function anchors(markdown: string): string[] {
  return [...markdown.matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
    title!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  )
}

test('every setting that a page names exists, and docs/operating.md has them all', () => {
  const help = execFileSync(process.execPath, [join(root, 'packages/server/src/main.ts'), '--help'], {
    encoding: 'utf8',
  })
  const settings = new Set([...help.matchAll(/^ {2}([A-Z_]+)$/gm)].map(([, name]) => name!))
  const unknown = all.flatMap(({ path, markdown }) =>
    [...markdown.matchAll(/\bBERTH_[A-Z_]*[A-Z]\b/g)]
      // Variables of the tests are not settings of a server.
      .filter(([name]) => !settings.has(name) && !name.startsWith('BERTH_TEST_'))
      .map(([name]) => `${path}: ${name}`),
  )
  assert.deepEqual(unknown, [])
  const operating = pageOf('docs/operating.md')
  assert.deepEqual(
    [...settings].filter((name) => !operating.includes(`\`${name}\``)),
    [],
  )
})

test('docs/install.md and the compose file give a container what the tests of the image give it', () => {
  const page = pageOf('docs/install.md')
  const compose = pageOf('deploy/compose/compose.yaml')
  assert.deepEqual(
    [...page.matchAll(/--cap-add (\w+)/g)].map(([, name]) => name),
    PRIVILEGES,
  )
  assert.match(compose, new RegExp(`cap_add:\\s+\\[\\s*${PRIVILEGES.join(',\\s*')},?\\s*\\]`))
  for (const name of PRIVILEGES) assert.match(page, new RegExp(`^\\|[^|]*\`${name}\``, 'm'))
  for (const option of ['berth-instance.json', 'apparmor=unconfined', 'systempaths=unconfined']) {
    assert.ok(page.includes(option) && compose.includes(option), option)
  }
})

test('the table of errors in docs/api.md is the catalogue', () => {
  const rows = [...pageOf('docs/api.md').matchAll(/^\| (\d{3}) +\| `(\w+)` +\| (.*?) +\|/gm)].map(
    ([, status, code, meaning]) => `${status} ${code} ${meaning}`,
  )
  assert.deepEqual(
    rows,
    errorCodes.map((code) => `${errorCatalogue[code].status} ${code} ${errorCatalogue[code].meaning}`),
  )
})

test('the table of scopes in docs/api.md has every scope', () => {
  const [, table = ''] = /^\| Scope .*\n((?:\|.*\n)+)/m.exec(pageOf('docs/api.md')) ?? []
  const listed = table.split('\n').flatMap((row) => row.split('|')[1]?.match(/[a-z_:]*[a-z]/g) ?? [])
  assert.deepEqual(listed, scopes)
})

test('the table of ends in docs/sessions.md has every reason with its close code', () => {
  const rows = [...pageOf('docs/sessions.md').matchAll(/^\| `(\w+)` +\| (\d{4}) +\|/gm)].map(
    ([, reason, code]) => `${reason} ${code}`,
  )
  assert.deepEqual(
    rows.toSorted(),
    endReasons.map((reason) => `${reason} ${endings[reason].code}`).toSorted(),
  )
})
