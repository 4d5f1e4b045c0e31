import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EventBus } from '@berth/kit/event-bus'
import type { ChangeEvents } from '../../platform/database/change-events.ts'
import type { Db } from '../../platform/database/schema.ts'
import { DefaultProject } from './default-project.ts'

// SAFETY: only passed on.
const db = {} as Db

function start() {
  const changes = new EventBus<ChangeEvents>({
    onError: (error) => {
      throw error
    },
  })
  const listener = { isListening: true, beginnings: 1 }
  const reads: PromiseWithResolvers<{ id: string }>[] = []
  const read = () => {
    const reading = Promise.withResolvers<{ id: string }>()
    reads.push(reading)
    return reading.promise
  }
  const project = new DefaultProject({ changes, listener, read })
  const find = async (id: string) => {
    const found = project.find(db)
    reads.at(-1)?.resolve({ id })
    return (await found).id
  }
  return { changes, listener, reads, project, find }
}

test('it is read once, and again after a change', async () => {
  const { changes, reads, find } = start()
  assert.equal(await find('one'), 'one')
  assert.equal(await find('two'), 'one')
  assert.equal(reads.length, 1)
  changes.emit('projectChanged', { projectId: 'one' })
  assert.equal(await find('two'), 'two')
  changes.emit('unknownChange', {})
  assert.equal(await find('three'), 'three')
})

test('what was read while it changed is not remembered', async () => {
  const { changes, reads, project, find } = start()
  const found = project.find(db)
  changes.emit('projectChanged', { projectId: 'one' })
  reads[0]!.resolve({ id: 'one' })
  assert.equal((await found).id, 'one')
  assert.equal(await find('two'), 'two')
})

test('a server that may have missed a change reads it', async () => {
  const { listener, find } = start()
  assert.equal(await find('one'), 'one')
  listener.isListening = false
  assert.equal(await find('two'), 'two')
  listener.isListening = true
  listener.beginnings = 2
  assert.equal(await find('three'), 'three')
  assert.equal(await find('four'), 'three')
})
