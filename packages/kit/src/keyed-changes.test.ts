import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { KeyedChanges } from './keyed-changes.ts'

const LONG = { timeoutMs: 60_000 }

test('KeyedChanges wakes all who wait for a key, and nobody else', async () => {
  const changes = new KeyedChanges()
  const [one, two] = [changes.next('a', LONG), changes.next('a', LONG)]
  using other = changes.next('b', LONG)
  changes.changed('a')
  await Promise.all([one.happened, two.happened])
  assert.equal(await Promise.race([other.happened.then(() => 'woken'), delay(5, 'asleep')]), 'asleep')
})

test('KeyedChanges wakes by the end of the time, by the signal, and by disposal', async () => {
  const changes = new KeyedChanges()
  await changes.next('a', { timeoutMs: 1 }).happened
  const leaving = new AbortController()
  const { happened } = changes.next('a', { ...LONG, signal: leaving.signal })
  leaving.abort()
  await happened
  await changes.next('a', { ...LONG, signal: leaving.signal }).happened
  const last = changes.next('a', LONG)
  last[Symbol.dispose]()
  await last.happened
})
