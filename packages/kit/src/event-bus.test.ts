import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EventBus } from './event-bus.ts'

interface Events {
  doorOpened: { door: string }
  lightSwitched: { isOn: boolean }
}

test('emit calls only the listeners of that event, in order', () => {
  const heard: string[] = []
  const bus = new EventBus<Events>({ onError: assert.fail })
  bus.on('doorOpened', ({ door }) => heard.push(`first ${door}`))
  bus.on('doorOpened', ({ door }) => heard.push(`second ${door}`))
  bus.on('lightSwitched', () => heard.push('light'))
  bus.emit('doorOpened', { door: 'front' })
  assert.deepEqual(heard, ['first front', 'second front'])
})

test('a listener that throws is reported and does not stop the others', () => {
  const heard: string[] = []
  const errors: unknown[] = []
  const bus = new EventBus<Events>({ onError: (error, name) => errors.push([name, error]) })
  const failure = new Error('broken')
  bus.on('doorOpened', () => {
    throw failure
  })
  bus.on('doorOpened', ({ door }) => heard.push(door))
  bus.emit('doorOpened', { door: 'front' })
  assert.deepEqual(heard, ['front'])
  assert.deepEqual(errors, [['doorOpened', failure]])
})

test('emit does nothing without listeners', () => {
  new EventBus<Events>({ onError: assert.fail }).emit('lightSwitched', { isOn: true })
})
