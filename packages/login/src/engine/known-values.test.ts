// Where a login types the values of a credential: only at the places that the credential names itself.
import assert from 'node:assert/strict'
import test from 'node:test'
import type { ActOrder } from '@berth/contracts/page-snapshot'
import { button, field, page, password } from '../../../../tests/fixtures/page-snapshots.ts'
import { login } from './login.ts'
import type { KnownValues, Question } from '../run/run.ts'

const known: KnownValues = {
  values: { username: 'ada', password: 'only-for-the-bank' },
  totp: () => ({ code: '493017', validFrom: new Date(0), expiresAt: new Date(Date.now() + 60_000) }),
  ssoProvider: undefined,
  hosts: ['bank.example:443'],
}

/** Logs in at a page that somebody chose, with everything a project key can set. */
async function logInAt(url: string, { isAttended = false } = {}) {
  const { origin, host } = new URL(url)
  const acts: ActOrder[] = []
  const asked: Question[] = []
  const over = new AbortController()
  const elements = [field({ label: 'Username', name: 'username' }), password(), button('Log in')]
  const snapshot = { ...page({ url, elements }), http_auth: null }
  snapshot.frames[0]!.origin = origin
  const outcome = await login({
    pageActions: {
      look: () => Promise.resolve(snapshot),
      visit: () => Promise.resolve(snapshot),
      act: (order) => {
        acts.push(order)
        // The first value is enough to see.
        if (order.act === 'fill') over.abort(new Error('seen'))
        return Promise.resolve({ result: 'done' })
      },
      hide: () => Promise.resolve(),
      passkeys: async () => ({ keys: [] }),
      store: async () => ({ refused: 0 }),
    },
    domain: host,
    loginUrl: url,
    allowedDomains: [host, '*.evil.example'],
    known,
    isAttended,
    plan: undefined,
    checks: undefined,
    onState: () => {},
    submitted: (question) => {
      asked.push(question)
      over.abort(new Error('seen'))
      return Promise.reject(new Error('seen'))
    },
    signal: over.signal,
  }).catch((error: Error) => {
    if (error.message !== 'seen') throw error
  })
  return { acts: acts.filter(({ act }) => act === 'fill'), asked, outcome }
}

test('a credential is typed at its own place, and the agent is told that place only', async () => {
  const { acts } = await logInAt('https://bank.example/login')
  assert.deepEqual([acts[0]?.value, acts[0]?.hosts], ['ada', ['bank.example:443']])
})

test('whoever chooses domain, login_url and allowed_domains gets no credential typed there', async () => {
  for (const url of [
    'https://evil.example/login',
    'http://bank.example/login',
    'https://bank.example:8443/login',
    'https://bank.example.evil.example/login',
  ]) {
    const { acts, outcome } = await logInAt(url)
    assert.deepEqual(acts, [], url)
    assert.ok(outcome && !outcome.isSuccess && outcome.code === 'domain_not_allowed', JSON.stringify(outcome))
    assert.match(outcome.message, /the credential is not for it. Add the host/)
  }
})

test('at another place the person is asked instead', async () => {
  const { acts, asked } = await logInAt('https://evil.example/login', { isAttended: true })
  assert.deepEqual(acts, [])
  assert.deepEqual(
    asked[0]?.fields.map(({ ref }) => ref),
    ['username', 'password'],
  )
})
