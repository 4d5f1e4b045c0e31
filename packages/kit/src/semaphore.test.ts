import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Semaphore } from './semaphore.ts'

test('Semaphore admits as many as it has places, and the others in order of arrival', async () => {
  const semaphore = new Semaphore(2)
  const inside: number[] = []
  const first = await semaphore.enter()
  const second = await semaphore.enter()
  const third = semaphore.enter().then((turn) => (inside.push(3), turn))
  const fourth = semaphore.enter().then((turn) => (inside.push(4), turn))
  second[Symbol.dispose]()
  second[Symbol.dispose]()
  ;(await third)[Symbol.dispose]()
  await fourth
  assert.deepEqual(inside, [3, 4])
  first[Symbol.dispose]()
  await semaphore.enter()
})

test('Semaphore rejects a caller whose signal fires, and admits the next one', async () => {
  const semaphore = new Semaphore(1)
  const first = await semaphore.enter()
  const giving = new AbortController()
  const impatient = semaphore.enter(giving.signal)
  const patient = semaphore.enter()
  const why = new Error('enough')
  giving.abort(why)
  await assert.rejects(impatient, why)
  await assert.rejects(semaphore.enter(giving.signal), why)
  first[Symbol.dispose]()
  await patient
})
