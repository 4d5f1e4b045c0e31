import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lookUp } from './look-up.ts'
import type { Db } from './schema.ts'

// Never used: the tests pass their own function to find rows.
const db = {} as Db

function finder() {
  const asked: (readonly string[])[] = []
  const find = lookUp<string>((_db, keys) => {
    asked.push([...keys])
    if (keys.includes('broken')) return Promise.reject(new Error('down'))
    const known = keys.filter((key) => key !== 'absent')
    return Promise.resolve(new Map(known.map((key) => [key, `row of ${key}`])))
  })
  return { asked, find }
}

test('lookUp runs one query for all keys of a turn, and gives each caller its own row', async () => {
  const { asked, find } = finder()
  const rows = await Promise.all(['a', 'absent', 'b', 'a'].map((key) => find(db, key)))
  assert.deepEqual(rows, ['row of a', undefined, 'row of b', 'row of a'])
  assert.deepEqual(asked, [['a', 'absent', 'b', 'a']])
})

test('lookUp never answers from an earlier read', async () => {
  const { asked, find } = finder()
  await find(db, 'a')
  await find(db, 'a')
  assert.deepEqual(asked, [['a'], ['a']])
})

test('lookUp limits the keys of a statement and keeps two databases apart', async () => {
  const { asked, find } = finder()
  const other = {} as Db
  await Promise.all([
    ...Array.from({ length: 150 }, (_, index) => find(db, String(index))),
    find(other, 'elsewhere'),
  ])
  assert.deepEqual(new Set(asked.map((keys) => keys.length)), new Set([100, 50, 1]))
})

test('lookUp fails all callers of a failed query, and works again afterwards', async () => {
  const { find } = finder()
  const outcomes = await Promise.allSettled([find(db, 'broken'), find(db, 'a')])
  assert.deepEqual(
    outcomes.map((outcome) => outcome.status),
    ['rejected', 'rejected'],
  )
  assert.equal(await find(db, 'a'), 'row of a')
})
