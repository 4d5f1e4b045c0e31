// Queues against what the theory of queues says about them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Clock } from './clock.ts'
import { Random } from './random.ts'
import { Rate, Station } from './station.ts'

const SECONDS = 20_000

/** Poisson arrivals, exponential service. */
function serve({ places, perSecond, service }: { places: number; perSecond: number; service: number }) {
  const clock = new Clock()
  const random = new Random(1)
  const station = new Station(clock, places)
  clock.start(
    (function* () {
      for (;;) {
        yield clock.pause(random.exponential(1 / perSecond))
        station.work(random.exponential(service))(() => {})
      }
    })(),
  )
  clock.runUntil(SECONDS)
  return station.use
}

test('one place that is busy for 80 % makes others wait four times a service, as M/M/1 does', () => {
  const { utilisation, meanWait, count } = serve({ places: 1, perSecond: 0.8, service: 1 })
  assert.ok(Math.abs(utilisation - 0.8) < 0.02, String(utilisation))
  assert.ok(Math.abs(meanWait - 4) < 0.5, String(meanWait))
  assert.ok(Math.abs(count - 0.8 * SECONDS) < 500, String(count))
})

test('two places with the same load for each wait as M/M/2 does', () => {
  const { utilisation, meanWait } = serve({ places: 2, perSecond: 1.6, service: 1 })
  assert.ok(Math.abs(utilisation - 0.8) < 0.02, String(utilisation))
  assert.ok(Math.abs(meanWait - 1.78) < 0.3, String(meanWait))
})

test('work takes longer when other work has a part of the place, and the place is then busier', () => {
  const clock = new Clock()
  const station = new Station(clock, 1, () => 0.5)
  let endedAt = 0
  station.work(2)(() => (endedAt = clock.now))
  clock.runUntil(10)
  assert.equal(endedAt, 4)
  // Two seconds of work of its own in ten, and half of all the time for the rest.
  assert.equal(station.use.utilisation, 0.7)
})

test('places are given in the order of arrival', () => {
  const clock = new Clock()
  const station = new Station(clock, 1)
  const seen: number[] = []
  for (let each = 0; each < 5; each++) station.work(1)(() => seen.push(each))
  assert.equal(station.queueLength, 4)
  clock.runUntil(10)
  assert.deepEqual(seen, [0, 1, 2, 3, 4])
  assert.equal(station.use.meanWait, 2)
})

test('a rate lets a burst through, and then so many in a second', () => {
  const clock = new Clock()
  const rate = new Rate(clock, { perSecond: 10, burst: 5 })
  const seen: number[] = []
  for (let each = 0; each < 25; each++) rate.pass()(() => seen.push(clock.now))
  assert.equal(seen.length, 5)
  assert.equal(Math.round(rate.queueLength), 20)
  clock.runUntil(1.05)
  assert.equal(seen.length, 15)
  clock.runUntil(3)
  assert.equal(seen.length, 25)
  assert.equal(rate.queueLength, 0)
})
