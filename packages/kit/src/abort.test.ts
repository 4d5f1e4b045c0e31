import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { joinSignals, unlessAborted } from './abort.ts'

const why = new Error('enough')

test('joinSignals fires with the first signal and its reason', () => {
  const [one, other] = [new AbortController(), new AbortController()]
  using joined = joinSignals(one.signal, other.signal)
  assert.equal(joined.signal.aborted, false)
  other.abort(why)
  one.abort(new Error('later'))
  assert.equal(joined.signal.reason, why)
})

test('joinSignals has already fired if one of the signals has', () => {
  using joined = joinSignals(new AbortController().signal, AbortSignal.abort(why))
  assert.equal(joined.signal.reason, why)
})

test('joinSignals removes its listeners when it is disposed of', () => {
  const { signal } = new AbortController()
  for (let count = 0; count < 3; count++) {
    using joined = joinSignals(signal, new AbortController().signal)
    assert.equal(joined.signal.aborted, false)
    assert.equal(getEventListeners(signal, 'abort').length, 1)
  }
  assert.equal(getEventListeners(signal, 'abort').length, 0)
})

test('unlessAborted settles like the work and removes its listener', async () => {
  const { signal } = new AbortController()
  assert.equal(await unlessAborted(Promise.resolve(1), signal), 1)
  assert.equal(await unlessAborted(Promise.resolve(1), undefined), 1)
  await assert.rejects(unlessAborted(Promise.reject(why), signal), why)
  assert.equal(getEventListeners(signal, 'abort').length, 0)
})

test('unlessAborted rejects when the signal fires and ignores a later failure of the work', async () => {
  const leaving = new AbortController()
  const work = Promise.withResolvers<never>()
  const waiting = unlessAborted(work.promise, leaving.signal)
  leaving.abort(why)
  await assert.rejects(waiting, why)
  await assert.rejects(unlessAborted(work.promise, leaving.signal), why)
  work.reject(new Error('late'))
})
