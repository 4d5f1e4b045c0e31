import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Lookups, type Lookup } from './lookups.ts'
import { EgressPolicy } from './policy.ts'
import { Resolver } from './resolve.ts'

const never = new AbortController().signal

function resolverWith(
  lookup: Lookup,
  { allow = [] as string[], timeoutMs = 5_000, maxAtOnce = 8, maxWaiting = 8 } = {},
) {
  const lookups = new Lookups({ lookup, timeoutMs, maxAtOnce, maxWaiting })
  return new Resolver({ policy: new EgressPolicy({ allow }), lookups })
}

const target = { host: 'a.example', port: 443 }

test("returns all addresses of a name in the resolver's order", async () => {
  const resolver = resolverWith(async () => ['2606:4700::1', '1.1.1.1', '1.0.0.1'])
  assert.deepEqual(await resolver.resolve(target, never), ['2606:4700::1', '1.1.1.1', '1.0.0.1'])
})

test('one closed address among open ones closes the whole name', async () => {
  for (const closed of ['127.0.0.1', '10.0.0.1', '169.254.169.254', '::1', 'nonsense']) {
    const resolver = resolverWith(async () => ['1.1.1.1', closed])
    await assert.rejects(resolver.resolve(target, never), { code: 'egress_denied' }, closed)
  }
})

test('a listed name skips closed addresses, and is denied if none is left', async () => {
  const allow = ['a.example:443']
  const mixed = resolverWith(async () => ['169.254.169.254', '10.0.0.1'], { allow })
  assert.deepEqual(await mixed.resolve(target, never), ['10.0.0.1'])
  const closed = resolverWith(async () => ['169.254.169.254'], { allow })
  await assert.rejects(closed.resolve(target, never), { code: 'egress_denied' })
})

test("addresses, denied targets and the host's own names never reach the resolver", async () => {
  const resolver = resolverWith(() => assert.fail('looked up'), {
    allow: ['host.berth.internal:1', '127.0.0.0/8'],
  })
  assert.deepEqual(await resolver.resolve({ host: '1.1.1.1', port: 80 }, never), ['1.1.1.1'])
  for (const host of ['host.berth.internal', 'localhost', 'a.localhost']) {
    assert.deepEqual(await resolver.resolve({ host, port: 1 }, never), ['127.0.0.1', '::1'])
  }
  for (const denied of [
    { host: '10.0.0.1', port: 1 },
    { host: 'host.berth.internal', port: 2 },
    { ...target, port: 25 },
  ]) {
    await assert.rejects(resolver.resolve(denied, never), { code: 'egress_denied' })
  }
})

test('a name without addresses, or with a broken resolver, is a failure', async () => {
  await assert.rejects(resolverWith(async () => []).resolve(target, never), { code: 'egress_failed' })
  const broken = resolverWith(() => Promise.reject(new Error('SERVFAIL from 10.0.0.53')))
  await assert.rejects(broken.resolve(target, never), {
    code: 'egress_failed',
    message: 'Cannot resolve "a.example": no such name, or no answer',
  })
})

test('a silent resolver times out, and its look-ups are limited and shared', async () => {
  const asked: string[] = []
  const lookup: Lookup = (name) => {
    asked.push(name)
    return new Promise(() => undefined)
  }
  const resolver = resolverWith(lookup, { timeoutMs: 20, maxAtOnce: 2, maxWaiting: 1 })
  const resolve = (host: string) => resolver.resolve({ host, port: 443 }, never)
  const timedOut = ['a', 'b', 'b', 'waits'].map((name) => resolve(`${name}.example`))
  await assert.rejects(resolve('c.example'), { code: 'egress_busy' })
  for (const attempt of timedOut) await assert.rejects(attempt, { code: 'egress_timeout' })
  // Those that timed out here are still under way outside, so the one that waited has not had its turn.
  assert.deepEqual(asked, ['a.example', 'b.example'])
})

test('a look-up that waits for its turn gets it when another one ends', async () => {
  const ends: (() => void)[] = []
  const lookup: Lookup = () => new Promise((resolve) => ends.push(() => resolve(['1.1.1.1'])))
  const resolver = resolverWith(lookup, { maxAtOnce: 1 })
  const first = resolver.resolve({ host: 'a.example', port: 443 }, never)
  const second = resolver.resolve({ host: 'b.example', port: 443 }, never)
  for (const attempt of [first, second]) {
    while (ends.length === 0) await new Promise(setImmediate)
    ends.pop()!()
    assert.deepEqual(await attempt, ['1.1.1.1'])
  }
})

test('a look-up ends when its signal fires, and does not start after that', async () => {
  const controller = new AbortController()
  const resolver = resolverWith(() => new Promise(() => undefined))
  const attempt = resolver.resolve(target, controller.signal)
  controller.abort(new Error('the client is gone'))
  await assert.rejects(attempt, /the client is gone/)
  await assert.rejects(resolver.resolve(target, controller.signal), /the client is gone/)
})
