// While a fleet is updated, servers of the version before run on over the database that the first new one has migrated. So
// a migration only adds what they need not know. What they no longer need is dropped by the version after the next.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { migrations } from './index.ts'

/** Those before are of a time when servers were updated one at a time, all of them at once. */
const FIRST_CHECKED = 26
/** By the name of a migration: why it may do what the rules forbid. */
const exceptions: Readonly<Record<string, string>> = {}

const CREATED = /\bCREATE TABLE (?:IF NOT EXISTS )?"?(\w+)"?/gi
const rules: readonly (readonly [pattern: RegExp, why: string])[] = [
  [/\bDROP (?!TRIGGER|FUNCTION|INDEX)\w+/i, 'the version before still uses it'],
  [/\bRENAME\b/i, 'the version before knows it by its old name'],
  [/\bALTER COLUMN \w+ (?:SET DATA )?TYPE\b/i, 'the version before reads and writes the old type'],
  [/\bALTER COLUMN \w+ SET NOT NULL\b/i, 'the version before may write null'],
  [/\bADD (?:CONSTRAINT|CHECK|UNIQUE|FOREIGN|PRIMARY)\b/i, 'the version before may write what it forbids'],
  [/\bCREATE UNIQUE INDEX\b/i, 'the version before may write what it forbids'],
  [/\b(?:LOCK TABLE|TRUNCATE|DELETE FROM)\b/i, 'the version before still uses the rows'],
  [
    /\bADD COLUMN \w+(?![^,;]*\bDEFAULT\b)[^,;]*\bNOT NULL\b/i,
    'the version before inserts rows without it; give it a default',
  ],
]

/** What is wrong with a migration. A table that it creates itself is free to have any form. */
function faultsOf(sql: string): string[] {
  const own = new Set([...sql.matchAll(CREATED)].map(([, name]) => name))
  const plain = sql.replaceAll(/--.*$/gm, '').replaceAll(/\$\$.*?\$\$/gs, '')
  return plain.split(';').flatMap((statement) => {
    const [, table] = /\b(?:ALTER TABLE(?: ONLY)?|INDEX .*?\bON) "?(\w+)"?/is.exec(statement) ?? []
    if (/^\s*CREATE TABLE\b/i.test(statement) || (table !== undefined && own.has(table))) return []
    return rules.flatMap(([pattern, why]) => {
      const found = pattern.exec(statement)
      return found ? [`"${found[0].trim()}": ${why}`] : []
    })
  })
}

for (const { version, name, sql } of migrations.filter((each) => each.version >= FIRST_CHECKED)) {
  test(`migration ${version} "${name}" leaves the version before what it needs`, () => {
    assert.deepEqual(exceptions[name] === undefined ? faultsOf(sql) : [], [])
  })
}

test('versions of migrations follow each other', () => {
  assert.deepEqual(
    migrations.map(({ version }) => version),
    migrations.map((_, index) => index + 1),
  )
})

const forbidden = [
  'DROP TABLE profiles',
  'ALTER TABLE browsers DROP COLUMN state',
  'ALTER TABLE browsers RENAME COLUMN state TO phase',
  'ALTER TABLE browsers RENAME TO sessions',
  'ALTER TABLE browsers ALTER COLUMN uptime_ms TYPE text',
  'ALTER TABLE browsers ALTER COLUMN name SET NOT NULL',
  'ALTER TABLE browsers ADD COLUMN kind text NOT NULL',
  'ALTER TABLE browsers ADD COLUMN a text, ADD COLUMN kind text NOT NULL',
  "ALTER TABLE browsers ADD CONSTRAINT short CHECK (name <> '')",
  'CREATE UNIQUE INDEX ON browsers (name)',
  'CREATE TABLE other (id text); CREATE UNIQUE INDEX ON browsers (name)',
  'DELETE FROM browsers',
]
const allowed = [
  'ALTER TABLE browsers ADD COLUMN kind text',
  "ALTER TABLE browsers ADD COLUMN kind text NOT NULL DEFAULT 'x', ADD COLUMN other text",
  'CREATE TABLE kinds (id text NOT NULL UNIQUE); CREATE UNIQUE INDEX kinds_id ON kinds (id)',
  'CREATE INDEX ON browsers (name)',
  'DROP INDEX browsers_name',
  '-- RENAME nothing\nCREATE INDEX ON browsers (name)',
]
test('the rules find what they forbid, and nothing else', () => {
  for (const sql of forbidden) assert.equal(faultsOf(sql).length, 1, sql)
  for (const sql of allowed) assert.deepEqual(faultsOf(sql), [], sql)
})
