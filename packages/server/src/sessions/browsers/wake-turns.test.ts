import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NoRoomToWake, WakeTurns } from './wake-turns.ts'

const MB = 2 ** 20
const forever = new AbortController().signal

function host(freeMb: number, { timeoutMs = 10_000 } = {}) {
  const state = { freeMb, now: 0, asked: 0, onMakeRoom: () => {} }
  const turns = new WakeTurns({
    freeBytes: async () => state.freeMb * MB,
    makeRoom: async () => {
      state.asked++
      state.onMakeRoom()
    },
    timeoutMs,
    now: () => state.now,
  })
  return { state, turns }
}

test('a session wakes at once when the host has room, and some is left for those that work', async () => {
  const { turns, state } = host(600)
  await turns.enter(300 * MB, forever)
  assert.equal(state.asked, 0)
  assert.equal(turns.waiting, 0)
})

test('what one was let in for is not given to the next, until it has had time to take it', async () => {
  const { turns, state } = host(800)
  await turns.enter(300 * MB, forever)
  let isIn = false
  const second = turns.enter(300 * MB, forever).then(() => (isIn = true))
  await new Promise((resolve) => setTimeout(resolve, 250))
  assert.equal(isIn, false)
  assert.ok(state.asked > 0, 'others were asked for their memory')
  state.now = 6_000
  await second
})

test('they wake in order of arrival, also when a later one would fit', async () => {
  const { turns, state } = host(400)
  const order: string[] = []
  const large = turns.enter(500 * MB, forever).then(() => order.push('large'))
  const small = turns.enter(50 * MB, forever).then(() => order.push('small'))
  await new Promise((resolve) => setTimeout(resolve, 250))
  assert.deepEqual(order, [])
  assert.equal(turns.waiting, 2)
  state.freeMb = 2_000
  await Promise.all([large, small])
  assert.deepEqual(order, ['large', 'small'])
})

test('room that others make lets it in', async () => {
  const { turns, state } = host(100)
  state.onMakeRoom = () => (state.freeMb = 1_000)
  await turns.enter(300 * MB, forever)
  assert.equal(state.asked, 1)
})

test('it gives up after a while, or when its session ends, and then it is the turn of the next', async () => {
  const { turns, state } = host(100)
  const late = assert.rejects(turns.enter(300 * MB, forever), NoRoomToWake)
  const ending = new AbortController()
  const ended = assert.rejects(turns.enter(300 * MB, ending.signal), /it has ended/)
  ending.abort(new Error('it has ended'))
  await ended
  assert.equal(turns.waiting, 1)
  state.now = 10_000
  await late
  assert.equal(turns.waiting, 0)
})
