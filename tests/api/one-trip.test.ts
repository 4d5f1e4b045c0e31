// A transaction that is sent at once is whole or not there, like any other, and leaves its connection as it was.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import type { Db } from '@berth/server/platform/database/schema'
import { inOneTrip, inTransaction } from '@berth/server/platform/database/transaction'
import { insertProject } from '@berth/server/tenancy/projects/store'
import { startDatabase } from '../fixtures/database.ts'

const { db, pool } = await startDatabase({ after })

const namesLike = async (part: string) => {
  const { rows } = await sql<{
    name: string
  }>`SELECT name FROM projects WHERE name LIKE ${part} ORDER BY name`.execute(db)
  return rows.map(({ name }) => name)
}

const settings = async (on: Db) => {
  const { rows } = await sql<{
    value: string
  }>`SELECT current_setting('synchronous_commit') AS value`.execute(on)
  return rows[0]!.value
}

test('its statements commit together', async () => {
  await inOneTrip(pool, (tx) =>
    Promise.all([insertProject(tx, 'one a', false), insertProject(tx, 'one b', false)]),
  )
  assert.deepEqual(await namesLike('one %'), ['one a', 'one b'])
})

test('a statement that fails takes the others with it, and the next user of the connection sees nothing of it', async () => {
  const failing = inOneTrip(pool, (tx) =>
    Promise.all([
      insertProject(tx, 'two a', false),
      insertProject(tx, 'one a', false),
      insertProject(tx, 'two b', false),
    ]),
  )
  await assert.rejects(failing, { code: '23505' })
  assert.deepEqual(await namesLike('two %'), [])
  await inTransaction(pool, async ({ db: tx }) => insertProject(tx, 'three', false))
  assert.deepEqual(await namesLike('three'), ['three'])
})

test('only its own commit does not wait for the disk', async () => {
  const usual = await settings(db)
  assert.notEqual(usual, 'off')
  assert.equal(await inOneTrip(pool, settings), 'off')
  assert.equal(await settings(db), usual)
})
