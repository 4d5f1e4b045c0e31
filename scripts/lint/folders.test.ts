// The import table and its lint rule.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { test } from 'node:test'

interface Row {
  readonly is: string
  readonly may: readonly string[]
}
type Table = Readonly<Record<string, Row>>
interface Options {
  readonly table: Table
  readonly groups: Readonly<Record<string, readonly string[]>>
}

const root = join(import.meta.dirname, '../..')
const pluginFile = join(import.meta.dirname, 'folders.mjs')
// SAFETY: plain JavaScript beside this file.
const { expand, judge } = (await import(pluginFile)) as {
  expand: (options: Options) => Table
  judge: (table: Table, file: string, specifier: string) => string | undefined
}

/** The configuration allows comments; JSON.parse does not. */
const config = JSON.parse(
  readFileSync(join(root, '.oxlintrc.json'), 'utf8').replaceAll(/^\s*\/\/.*$/gm, ''),
) as { rules: { 'berth/folders': [string, Options] } }
const options = config.rules['berth/folders'][1]
const table = expand(options)

test('a folder may import what its row lists', () => {
  assert.equal(judge(table, 'server/src/sessions/pools/service.ts', '../browsers/service.ts'), undefined)
  assert.equal(judge(table, 'server/src/sessions/pools/service.ts', '@berth/contracts/pools'), undefined)
  assert.equal(judge(table, 'server/src/sessions/pools/service.ts', './store.ts'), undefined)
})

test('an import against the direction says where the code belongs', () => {
  const message = judge(table, 'server/src/platform/blobs/blobs.ts', '../../sessions/pools/service.ts')
  assert.match(message!, /^server\/src\/platform\/blobs may not import server\/src\/sessions\/pools\./)
  assert.match(message!, /stands above server\/src\/platform\/blobs and imports it\. Move this code up/)
})

test('server and agent never import each other', () => {
  assert.match(
    judge(table, 'server/src/sessions/control/controls.ts', '@berth/agent/main')!,
    /may not import agent\/src/,
  )
  assert.match(judge(table, 'agent/src/main.ts', '@berth/server/app')!, /may not import server\/src/)
})

test('nobody imports the composition root', () => {
  for (const room of ['http', 'tenancy', 'instances', 'sessions', 'apps', 'logins']) {
    assert.match(judge(table, `server/src/${room}/module.ts`, '../app.ts')!, /may not import server\/src\./)
  }
})

test('contracts may not import modules of Node', () => {
  assert.match(judge(table, 'contracts/src/browsers.ts', 'node:fs')!, /also runs in browsers/)
})

test('a folder without a row is refused', () => {
  assert.match(judge(table, 'unheard-of/src/a.ts', './b.ts')!, /add a row to \.oxlintrc\.json/)
})

test('every folder of the other packages has its own row', () => {
  for (const name of ['agent', 'codecs', 'login', 'web']) {
    const source = join(root, 'packages', name, 'src')
    const files = readdirSync(source, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !entry.name.endsWith('.test.ts'))
      .map((entry) => relative(join(root, 'packages'), entry.parentPath))
      // A folder for each resource, and all of them have one row.
      .map((folder) => folder.replace(/^(web\/src\/dashboard\/pages)\/.*/, '$1'))
    const missing = [...new Set(files)].filter((folder) => !Object.hasOwn(table, folder))
    assert.deepEqual(missing, [], 'add a row to .oxlintrc.json for each')
  }
})

test('two folders of the agent do not import each other', () => {
  assert.match(
    judge(table, 'agent/src/chromium/chromium.ts', '../control/controls.ts')!,
    /agent\/src\/control stands above agent\/src\/chromium and imports it/,
  )
  assert.match(
    judge(table, 'agent/src/telemetry/telemetry.ts', '../packed/packed.ts')!,
    /agent\/src\/packed stands above agent\/src\/telemetry/,
  )
})

test('no two rows may import each other, not even through other rows', () => {
  const rows = Object.keys(table).filter((row) => row !== 'server/src')
  const allows = (from: string, to: string) =>
    from !== to && judge(table, fileIn(from), pathTo(from, to)) === undefined
  const edges = new Map(rows.map((from) => [from, rows.filter((to) => allows(from, to))]))
  const visit = (row: string, trail: readonly string[]): void => {
    assert.ok(!trail.includes(row), `a circle of imports is allowed: ${[...trail, row].join(' → ')}`)
    if (done.has(row)) return
    for (const next of edges.get(row)!) visit(next, [...trail, row])
    done.add(row)
  }
  const done = new Set<string>()
  for (const row of rows) visit(row, [])
})

test('oxlint refuses a wrong import in a file, with the remedy', (t) => {
  const tree = mkdtempSync(join(tmpdir(), 'berth-lint-'))
  t.after(() => rmSync(tree, { recursive: true, force: true }))
  const folder = join(tree, 'packages/server/src/platform/blobs')
  mkdirSync(folder, { recursive: true })
  writeFileSync(
    join(folder, 'wrong.ts'),
    "import { x } from '../../sessions/pools/service.ts'\nexport const y = x\n",
  )
  const rules = { 'berth/folders': ['error', { ...options, root: tree }] }
  writeFileSync(join(tree, '.oxlintrc.json'), JSON.stringify({ jsPlugins: [pluginFile], rules }))
  const { status, stdout } = spawnSync(join(root, 'node_modules/.bin/oxlint'), [], {
    cwd: tree,
    encoding: 'utf8',
  })
  assert.notEqual(status, 0)
  assert.match(stdout, /server\/src\/platform\/blobs may not import server\/src\/sessions\/pools/)
})

const fileIn = (row: string) => (row.endsWith('.ts') ? row : `${row}/any.ts`)
const pathTo = (from: string, to: string) => {
  const up = fileIn(from).split('/').slice(0, -1)
  return `${up.map(() => '..').join('/')}/${fileIn(to)}`
}
