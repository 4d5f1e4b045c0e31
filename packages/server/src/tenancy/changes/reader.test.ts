import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeKinds, MAX_CHANGED_IDS, type ChangeEvent } from '@berth/contracts/changes'
import { expandScopes, type Scope } from '@berth/contracts/scopes'
import type { Principal } from '../../http/principal.ts'
import { PendingChanges } from './pending-changes.ts'
import { ChangeReader } from './reader.ts'
import type { Owner } from './types.ts'

function principal(scopes?: readonly Scope[]): Principal {
  return {
    keyId: 'key',
    projectId: null,
    isProjectArchived: false,
    creator: { id: 'x', name: null, email: 'x@example.com' },
    ...(scopes && { scopes: expandScopes(scopes) }),
  }
}

async function toldTo(reader: ChangeReader, tell: () => void): Promise<ChangeEvent[]> {
  tell()
  reader.end()
  const text = Buffer.concat(await Array.fromAsync(reader as AsyncIterable<Buffer>)).toString()
  return text
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => JSON.parse(event.slice('data: '.length)) as ChangeEvent)
}

const of = (owner: Owner, count: number): Map<string, Owner> =>
  new Map(Array.from({ length: count }, (_, n) => [`${owner}${n}`, owner]))

test('a reader of a project hears ids of its own, none of others, and none of unknown owners', async () => {
  const reader = new ChangeReader(principal(), 'mine')
  const events = await toldTo(reader, () => {
    reader.tell(
      'browser',
      new Map<string, Owner>([...of('mine', 1), ...of('theirs', 1), ...of(undefined, 1), ...of(null, 1)]),
    )
    reader.tell('browser', of('theirs', MAX_CHANGED_IDS + 1))
    reader.tell('browser', of('mine', MAX_CHANGED_IDS + 1))
    reader.tell('credential_provider', of(null, 1))
    reader.tell('profile', 'many')
  })
  assert.deepEqual(events, [
    { kind: 'browser', ids: ['mine0'] },
    { kind: 'browser', ids: null },
    { kind: 'credential_provider', ids: null },
    { kind: 'profile', ids: null },
  ])
})

test('a reader of the organisation hears everything that its scopes let it read', async () => {
  const all = new ChangeReader(principal(), null)
  assert.ok(changeKinds.every((kind) => all.hears(kind)))
  const some = new ChangeReader(principal(['browsers:write']), null)
  const events = await toldTo(some, () => {
    some.tell('browser', of(null, MAX_CHANGED_IDS))
    some.tell('profile', of('mine', 1))
    some.hello()
  })
  assert.equal(events[0]!.ids!.length, MAX_CHANGED_IDS)
  const kinds = ['browser', 'browser_pool', 'replay', 'telemetry_destination']
  assert.deepEqual(events[1], { kind: 'hello', ids: null, kinds })
  assert.equal(events.length, 2)
})

test('a reader that takes nothing is disconnected', () => {
  const reader = new ChangeReader(principal(), null)
  let told = 0
  for (; !reader.destroyed && told < 10_000; told++) reader.tell('browser', of('mine', MAX_CHANGED_IDS))
  assert.ok(told > 10 && told < 1_000, `disconnected after ${told} events`)
  assert.ok(reader.readableLength < 300 * 1024)
  reader.heartbeat()
  reader.end()
})

test('a reader that has ended is told nothing more', async () => {
  const reader = new ChangeReader(principal(), null)
  reader.hello()
  reader.end()
  reader.end()
  reader.hello()
  reader.heartbeat()
  reader.tell('browser', of('mine', 1))
  const text = Buffer.concat(await reader.toArray()).toString()
  assert.equal(text.match(/"kind"/g)?.length, 1, text)
})

test('changes are gathered by kind, an owner that is known stays known, and too many are no list', () => {
  const pending = new PendingChanges()
  assert.ok(pending.isEmpty)
  pending.add('browser', 'a', 'mine')
  pending.add('browser', 'a', undefined)
  pending.add('profile', 'b', undefined)
  for (let n = 0; n <= 1_000; n++) pending.add('proxy', String(n), 'mine')
  pending.add('proxy', 'one more', 'mine')
  const { kinds, isEverything } = pending.take()
  assert.deepEqual(
    [...kinds],
    [
      ['browser', new Map([['a', 'mine']])],
      ['profile', new Map([['b', undefined]])],
      ['proxy', 'many'],
    ],
  )
  assert.equal(isEverything, false)
  pending.addEverything()
  assert.equal(pending.isEmpty, false)
  assert.ok(pending.take().isEverything)
  assert.ok(pending.isEmpty)
})
