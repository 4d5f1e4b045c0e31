import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LiveLook } from './live-look.ts'
import type { LiveRow } from './types.ts'

const row = (id: string, state: string, kind: LiveRow['kind'] = 'browser'): LiveRow => ({
  kind,
  id,
  projectId: 'p',
  state,
})

test('what is new, gone or in another state has changed, and nothing else', () => {
  const earlier = new LiveLook([
    row('same', '1'),
    row('gone', '1'),
    row('other', '1'),
    row('two', '1', 'replay'),
  ])
  const now = new LiveLook([row('same', '1'), row('other', '2'), row('new', '1'), row('two', '1')])
  assert.deepEqual(
    now.since(earlier).map(({ kind, id }) => `${kind} ${id}`),
    ['browser other', 'browser new', 'browser two', 'browser gone', 'replay two'],
  )
  assert.deepEqual(now.since(now), [])
})
