import assert from 'node:assert/strict'
import { test } from 'node:test'
import { columnsOf, cellOf } from './columns.ts'
import { tableText, widthsFor } from './table.ts'
import { clean, harmless, sizeText, textOf } from './value-text.ts'

const paint = (_style: unknown, text: string) => text

test('a table has aligned columns and nothing at the ends of its lines', () => {
  const text = tableText(
    ['ID', 'NAME'],
    [
      ['1', 'first'],
      ['1000', 'x'],
    ],
    { columns: undefined, paint },
  )
  assert.equal(text, 'ID    NAME\n1     first\n1000  x\n')
})

test('what is piped is complete, and a terminal cuts the widest column', () => {
  const long = 'x'.repeat(200)
  const rows = [['a', long]]
  assert.ok(tableText(['ID', 'TEXT'], rows, { columns: undefined, paint }).includes(long))
  const narrow = tableText(['ID', 'TEXT'], rows, { columns: 40, paint })
  for (const line of narrow.split('\n')) assert.ok(line.length <= 40, line)
  assert.deepEqual(widthsFor([['aaaa', 'bbbbbbbbbbbbbbbbbbbb']], 16), [6, 10])
  assert.deepEqual(widthsFor([['a'.repeat(24), 'bbbbbbbbbbbbbbbbbbbb']], 30), [26, 8], 'never the first')
})

test('columns name a path and perhaps a title', () => {
  const [id, size, nested] = columnsOf('session_id=id size_bytes profile.name')
  assert.deepEqual([id!.title, size!.title, nested!.title], ['ID', 'SIZE', 'PROFILE NAME'])
  const record = { session_id: 'a', size_bytes: 1_500_000, profile: { name: 'me' } }
  assert.deepEqual(
    [id, size, nested].map((column) => cellOf(record, column!)),
    ['a', '1.5 MB', 'me'],
  )
  assert.equal(cellOf({}, nested!), '-')
})

test('what a page has named cannot move the cursor', () => {
  assert.equal(clean('a\u001b[2Jb\nc\u202e'), 'a [2Jb c ')
  assert.equal(
    harmless('a\u001b[31mred\u001b[0m\n\tb\u001b[2J\u001b]0;title\u0007'),
    'a\u001b[31mred\u001b[0m\n\tb[2J]0;title',
  )
  assert.equal(textOf({ tag: 'x\u0007' }), 'tag=x ')
})

test('times are local, sizes are short, and nothing is a dash', () => {
  assert.match(textOf('2026-11-19T13:03:05.123Z'), /^2026-11-(18|19|20) \d\d:\d\d:05 \S+$/)
  assert.deepEqual([sizeText(999), sizeText(1_000), sizeText(250_000_000)], ['999 B', '1.0 kB', '250 MB'])
  assert.deepEqual([textOf(null), textOf([]), textOf({}), textOf('')], ['-', '-', '-', '-'])
})
