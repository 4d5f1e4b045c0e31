import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SoundTimeline } from './sound-timeline.ts'

const FRAME_MS = 1024 / 44.1
/** Where each frame of `times` comes out, in milliseconds; undefined for those that are left out. */
function placesOf(times: readonly number[], maxFrames = Infinity) {
  const timeline = new SoundTimeline({ maxFrames })
  let count = 0
  const places = times.map((time) => {
    const { silent, isUsed } = timeline.take(Math.round(time))
    count += silent
    return isUsed ? count++ * FRAME_MS : undefined
  })
  return { places, timeline, count: () => count }
}
const run = (from: number, frames: number) => Array.from({ length: frames }, (_, at) => from + at * FRAME_MS)

test('each frame is within a frame of its time, and frames of a run stay together', () => {
  for (const from of [0, 5, 16, 17, 1_000.4, 86_400_000]) {
    const times = run(from, 500)
    const { places } = placesOf(times)
    for (const [at, place] of places.entries()) {
      assert.ok(Math.abs(place! - times[at]!) < FRAME_MS, `${times[at]} came out at ${place}`)
      if (at > 0)
        assert.ok(
          Math.abs(place! - places[at - 1]! - FRAME_MS) < 0.001,
          `a hole before frame ${at} from ${from}`,
        )
    }
  }
})

test('a pause becomes silence, and what overlaps is left out', () => {
  const times = [...run(0, 10), ...run(5_000, 10), ...run(5_100, 10)]
  const { places } = placesOf(times)
  assert.ok(Math.abs(places[10]! - 5_000) < FRAME_MS)
  const left = places.slice(20).filter((place) => place !== undefined)
  assert.ok(left.length >= 4 && left.length <= 6, `${left.length} frames of the last run`)
  assert.ok(Math.abs(left.at(-1)! - times.at(-1)!) < FRAME_MS)
})

test('the end is filled, and the number of frames is limited', () => {
  const { timeline, count } = placesOf(run(0, 10))
  assert.equal(count() + timeline.end(10_000), Math.floor(10_000 / FRAME_MS))
  assert.equal(timeline.end(0), 0)
  const few = placesOf([...run(0, 10), ...run(5_000, 10)], 15)
  assert.equal(few.count(), 15)
  assert.equal(few.timeline.end(10_000), 0)
})
