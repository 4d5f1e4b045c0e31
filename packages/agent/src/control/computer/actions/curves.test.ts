import assert from 'node:assert/strict'
import { test } from 'node:test'
import { curvedPath, curvedPathThrough, type Step } from './curves.ts'
import { inRhythm } from './rhythm.ts'

const within = { width: 800, height: 600 }
const durationOf = (steps: readonly Step[]) => steps.reduce((sum, { waitMs }) => sum + waitMs, 0)

function assertOnScreen(steps: readonly Step[]): void {
  for (const { point, waitMs } of steps) {
    assert.ok(Number.isInteger(point.x) && point.x >= 0 && point.x < within.width, String(point.x))
    assert.ok(Number.isInteger(point.y) && point.y >= 0 && point.y < within.height, String(point.y))
    assert.ok(waitMs >= 0)
  }
}

test('a curve ends at its target, stays on the screen, and takes the requested time', () => {
  for (let round = 0; round < 200; round++) {
    const steps = curvedPath({ x: 0, y: 599 }, { x: 799, y: 590 }, { durationMs: 500, within })
    assertOnScreen(steps)
    assert.equal(steps.length, 25)
    assert.deepEqual(steps.at(-1)!.point, { x: 799, y: 590 })
    assert.ok(Math.abs(durationOf(steps) - 500) < 1)
  }
})

test('without a duration a longer path takes longer, but never seconds', () => {
  const near = durationOf(curvedPath({ x: 10, y: 10 }, { x: 20, y: 10 }, { within }))
  const far = durationOf(curvedPath({ x: 10, y: 10 }, { x: 790, y: 590 }, { within }))
  assert.ok(near >= 50 && near < far && far < 1_500, `${near}, ${far}`)
  const nowhere = curvedPath({ x: 10, y: 10 }, { x: 10, y: 10 }, { within })
  assert.ok(nowhere.every(({ point }) => point.x === 10 && point.y === 10))
})

test('a curve through points touches each of them in turn', () => {
  const points = [5, 700, 20, 20, 400].map((x, index) => ({ x, y: index * 100 }))
  const steps = curvedPathThrough(points, { durationMs: 400, within })
  assertOnScreen(steps)
  let from = 0
  for (const wanted of points.slice(1)) {
    from = steps.findIndex(
      ({ point }, index) => index >= from && point.x === wanted.x && point.y === wanted.y,
    )
    assert.notEqual(from, -1, JSON.stringify(wanted))
  }
  assert.ok(Math.abs(durationOf(steps) - 400) < 1)
})

test('smoothly typed text equals the text once its mistakes are corrected', () => {
  const text = 'The quick brown fox. Jumps over\nthe lazy dog'
  const strokes = Array.from({ length: 50 }, () => inRhythm(text, 0.1)).flat()
  let typed = ''
  let mistakes = 0
  for (const { keysym, waitMs } of strokes) {
    assert.ok(waitMs >= 50 && waitMs < 1_000, String(waitMs))
    if (keysym === 0xff08) {
      mistakes++
      typed = typed.slice(0, -1)
    } else typed += keysym === 0xff0d ? '\n' : String.fromCodePoint(keysym)
  }
  assert.equal(typed, text.repeat(50))
  // One in ten of some 1700 letters.
  assert.ok(mistakes > 80 && mistakes < 350, String(mistakes))
  assert.equal(inRhythm(text, 0).length, text.length)
})
