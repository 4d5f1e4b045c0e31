import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Corrupted, persist } from './persist.ts'

const never = new AbortController().signal
const answered = (name: string, status: number, more: object = {}) =>
  Object.assign(new Error(name), { name, $metadata: { httpStatusCode: status, ...more } })

/** Fails so often, and counts. */
function failing(times: number, error: unknown) {
  const seen = { attempts: 0 }
  const attempt = () => {
    if (++seen.attempts <= times) return Promise.reject(error)
    return Promise.resolve('done')
  }
  return { seen, attempt }
}

test('what may pass is tried again, and what will not is told at once', async () => {
  const wait = { patienceMs: 60_000, attemptMs: 10_000, signal: never }
  const passing = [
    Object.assign(new Error('cut'), { code: 'ECONNRESET' }),
    answered('SlowDown', 503),
    answered('BadDigest', 400),
    answered('RequestTimeTooSkewed', 403, { clockSkewCorrected: true }),
    new Corrupted('wrong'),
  ]
  for (const error of passing) {
    const { seen, attempt } = failing(2, error)
    assert.equal(await persist(attempt, wait), 'done')
    assert.equal(seen.attempts, 3)
  }
  for (const error of [answered('AccessDenied', 403), answered('NotImplemented', 501), new Error('a bug')]) {
    const { seen, attempt } = failing(1, error)
    await assert.rejects(persist(attempt, wait), error)
    assert.equal(seen.attempts, 1)
  }
})

test('patience ends, an attempt that hangs is given up, and the signal ends everything', async () => {
  const busy = answered('SlowDown', 503)
  await assert.rejects(
    persist(() => Promise.reject(busy), { patienceMs: 300, attemptMs: 1_000, signal: never }),
    busy,
  )
  let attempts = 0
  const hanging = (signal: AbortSignal) => {
    if (++attempts > 1) return Promise.resolve('done')
    const { promise, reject } = Promise.withResolvers<string>()
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
    return promise
  }
  assert.equal(await persist(hanging, { patienceMs: 1_000, attemptMs: 50, signal: never }), 'done')
  const stop = new AbortController()
  const endless = persist(() => Promise.reject(busy), {
    patienceMs: 60_000,
    attemptMs: 1_000,
    signal: stop.signal,
  })
  stop.abort(new Error('closing'))
  await assert.rejects(endless, /closing/)
})
