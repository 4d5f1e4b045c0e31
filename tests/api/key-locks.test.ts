// Locks by name, shared by servers over one database.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { pino } from 'pino'
import { sql } from 'kysely'
import { KeyLocks } from '@berth/server/platform/database/key-locks'
import { cleanUpAfter } from '../fixtures/cleanup.ts'
import { startDatabase } from '../fixtures/database.ts'
import { eventually } from '../fixtures/host.ts'

const owner = { after }
const { db, connection } = await startDatabase(owner)
const never = new AbortController().signal

function newServer(): KeyLocks {
  const locks = new KeyLocks({ connection, log: pino({ level: 'silent' }) })
  cleanUpAfter(owner, () => locks.close())
  return locks
}
const [one, two] = [newServer(), newServer()]

async function countConnections(state: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::int AS count FROM pg_stat_activity
    WHERE application_name = 'berth-locks' AND datname = current_database() AND state = ${state}`.execute(db)
  return rows[0]!.count
}

test('a name is held by one at a time, here and on another server', async () => {
  const held = await one.enter('a', never)
  const order: string[] = []
  const enter = async (server: KeyLocks, who: string) => {
    const lock = await server.enter('a', never)
    order.push(who)
    return lock
  }
  const here = enter(one, 'here')
  const there = enter(two, 'there')
  // Other names are free.
  for (const server of [one, two]) (await server.enter('b', never))[Symbol.dispose]()
  assert.deepEqual(order, [])
  held[Symbol.dispose]()
  ;(await Promise.race([here, there]))[Symbol.dispose]()
  ;(await here)[Symbol.dispose]()
  ;(await there)[Symbol.dispose]()
  assert.deepEqual(new Set(order), new Set(['here', 'there']))
})

test('whoever leaves while waiting holds nothing, and all locks are in one connection', async () => {
  const held = await Promise.all(['a', 'b', 'c'].map((name) => one.enter(name, never)))
  assert.equal(await countConnections('idle in transaction'), 1)
  const leaving = new AbortController()
  const waiting = [one.enter('a', leaving.signal), two.enter('a', leaving.signal)]
  leaving.abort(new Error('gone'))
  for (const each of waiting) await assert.rejects(each, /gone/)
  for (const lock of held) lock[Symbol.dispose]()
  ;(await two.enter('a', never))[Symbol.dispose]()
  // No transaction stays open without a lock.
  await eventually('all are idle', async () => (await countConnections('idle')) === 2)
})

test('a lost connection loses its locks, and the next lock has another', async () => {
  const held = await one.enter('a', never)
  await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = 'berth-locks' AND datname = current_database()`.execute(db)
  await eventually('they are gone', async () => {
    const states = await Promise.all(['idle', 'idle in transaction'].map(countConnections))
    return states.every((count) => count === 0)
  })
  // A server notices it when its socket closes; one request may fail before.
  const enterAgain = async (server: KeyLocks) => {
    let lock: Disposable | undefined
    await eventually('the name is free', async () => {
      lock = await server.enter('a', never).catch(() => undefined)
      return lock !== undefined
    })
    lock![Symbol.dispose]()
  }
  await enterAgain(two)
  held[Symbol.dispose]()
  await enterAgain(one)
})
