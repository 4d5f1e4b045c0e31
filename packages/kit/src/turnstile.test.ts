import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Turnstile } from './turnstile.ts'

test('Turnstile admits as many as it has places, and the others in order of arrival', async () => {
  const turnstile = new Turnstile(2)
  const inside: number[] = []
  const first = await turnstile.enter()
  const second = await turnstile.enter()
  const third = turnstile.enter().then((turn) => (inside.push(3), turn))
  const fourth = turnstile.enter().then((turn) => (inside.push(4), turn))
  second[Symbol.dispose]()
  second[Symbol.dispose]()
  ;(await third)[Symbol.dispose]()
  await fourth
  assert.deepEqual(inside, [3, 4])
  first[Symbol.dispose]()
  await turnstile.enter()
})

test('Turnstile rejects a caller whose signal fires, and admits the next one', async () => {
  const turnstile = new Turnstile(1)
  const first = await turnstile.enter()
  const giving = new AbortController()
  const impatient = turnstile.enter(giving.signal)
  const patient = turnstile.enter()
  const why = new Error('enough')
  giving.abort(why)
  await assert.rejects(impatient, why)
  await assert.rejects(turnstile.enter(giving.signal), why)
  first[Symbol.dispose]()
  await patient
})
