import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { V1Pod } from '@kubernetes/client-node'
import { asSeen, addressOf, endOf, isLitter, whyStuck, whyUnschedulable } from './pod-state.ts'

const now = Date.parse('2026-11-19T12:00:00Z')
const pod = (status: object, metadata: object = {}): V1Pod => ({
  metadata: { creationTimestamp: new Date(now - 5_000), ...metadata },
  status,
})
const ended = (terminated: object) =>
  pod({ phase: 'Failed', containerStatuses: [{ name: 'instance', state: { terminated } }] })

test('a status says how an instance ended', () => {
  assert.equal(endOf(pod({ phase: 'Pending' })), undefined)
  assert.equal(
    endOf(pod({ phase: 'Running', containerStatuses: [{ name: 'instance', state: { running: {} } }] })),
    undefined,
  )
  assert.equal(endOf(ended({ reason: 'OOMKilled', exitCode: 137 })), 'out-of-memory')
  assert.equal(endOf(ended({ reason: 'Error', exitCode: 3 })), 'lease-lapsed')
  assert.equal(endOf(ended({ reason: 'Error', exitCode: 1 })), 'ended-by-itself')
  for (const reason of ['Evicted', 'NodeLost', 'Shutdown'])
    assert.equal(endOf(pod({ phase: 'Failed', reason })), 'lost')
  assert.equal(endOf(pod({ phase: 'Running' }, { deletionTimestamp: new Date(now) })), 'lost')
})

test('a Pod has an address when its link runs, until it is being deleted', () => {
  const running = { podIP: '10.0.0.9', containerStatuses: [{ name: 'link', state: { running: {} } }] }
  assert.equal(addressOf(pod(running)), '10.0.0.9')
  assert.equal(addressOf(pod({ ...running, podIP: undefined })), undefined)
  assert.equal(
    addressOf(pod({ podIP: '10.0.0.9', containerStatuses: [{ name: 'link', state: { waiting: {} } }] })),
    undefined,
  )
  assert.equal(addressOf(pod(running, { deletionTimestamp: new Date(now) })), undefined)
})

test('it is said why a Pod does not run', () => {
  const conditions = [
    { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/2 nodes are available' },
  ]
  assert.equal(whyUnschedulable(pod({ conditions })), '0/2 nodes are available')
  assert.equal(whyUnschedulable(pod({ conditions: [{ type: 'PodScheduled', status: 'True' }] })), undefined)
  const waiting = { reason: 'ErrImageNeverPull', message: 'not present' }
  assert.equal(
    whyStuck(pod({ containerStatuses: [{ name: 'link', state: { waiting } }] })),
    'ErrImageNeverPull: not present',
  )
  const creating = { reason: 'ContainerCreating' }
  assert.equal(
    whyStuck(pod({ containerStatuses: [{ name: 'link', state: { waiting: creating } }] })),
    undefined,
  )
})

test('what ended or never started is litter after a while, and nothing else', () => {
  const old = { creationTimestamp: new Date(now - 3_600_000) }
  assert.equal(isLitter(pod({ phase: 'Failed' }, old), now), true)
  assert.equal(isLitter(pod({ phase: 'Failed' }), now), false, 'its server may be about to read it')
  assert.equal(isLitter(pod({ phase: 'Pending' }, old), now), true)
  assert.equal(isLitter(pod({ phase: 'Pending' }), now), false)
  assert.equal(isLitter(pod({ phase: 'Running' }, old), now), false)
  assert.equal(isLitter(pod({ phase: 'Failed' }, { ...old, deletionTimestamp: new Date(now) }), now), false)
})

test('a Pod from a watch, whose times are text, is judged like one from a list', () => {
  const listed = pod({ phase: 'Pending' }, { creationTimestamp: new Date(now - 3_600_000) })
  // SAFETY: as the cluster sends it; the client converts only lists.
  const watched = asSeen(JSON.parse(JSON.stringify(listed)) as V1Pod)
  assert.deepEqual(watched, asSeen(listed))
  assert.equal(isLitter(watched, now), true)
})
