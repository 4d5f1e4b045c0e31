// Mouse paths like those of a hand: curved, slower at both ends, and never the same twice.
import type { Size } from '../../../cdp/headless-size.ts'
import type { Point } from '../device/device.ts'

const STEP_MS = 20
const MIN_STEPS = 5
const MAX_STEPS = 500
const MIN_WAIT_MS = 3
/** How much pauses vary around their mean, and curves around the straight line. */
const UNEVENNESS = 0.4
const BEND = 0.2
const MAX_BEND = 120

export interface Step {
  readonly point: Point
  /** Pause after this step. */
  readonly waitMs: number
}

export interface CurveOptions {
  /** Defaults to a time that depends on the path's length. */
  readonly durationMs?: number | undefined
  readonly within: Size
}

export function curvedPath(from: Point, to: Point, { durationMs, within }: CurveOptions): Step[] {
  const length = distance(from, to)
  // Long paths take only a little longer than short ones.
  const whole = durationMs ?? Math.round(120 + 100 * Math.log2(1 + length / 20))
  return timed(curve(from, to, { count: countFor(whole), within }), whole)
}

/** Passes through each point in one movement. */
export function curvedPathThrough(points: readonly Point[], { durationMs, within }: CurveOptions): Step[] {
  const lengths = points.slice(1).map((point, index) => distance(points[index]!, point))
  const length = lengths.reduce((sum, each) => sum + each, 0)
  const whole = durationMs ?? Math.round(Math.min(5_000, 200 + length * 0.8))
  const count = Math.max(countFor(whole), points.length - 1)
  const path = points.slice(1).flatMap((to, index) => {
    const share = length === 0 ? 1 / lengths.length : lengths[index]! / length
    return curve(points[index]!, to, { count: Math.max(1, Math.round(count * share)), within })
  })
  return timed(path, whole)
}

const countFor = (durationMs: number) =>
  Math.min(MAX_STEPS, Math.max(MIN_STEPS, Math.round(durationMs / STEP_MS)))

const distance = (one: Point, other: Point) => Math.hypot(other.x - one.x, other.y - one.y)

/** Points of a cubic Bézier curve, the last of them exactly `to`. */
function curve(from: Point, to: Point, { count, within }: { count: number; within: Size }): Point[] {
  const bend = Math.min(MAX_BEND, distance(from, to) * BEND)
  const bent = (share: number): Point => ({
    x: from.x + (to.x - from.x) * share + (Math.random() * 2 - 1) * bend,
    y: from.y + (to.y - from.y) * share + (Math.random() * 2 - 1) * bend,
  })
  const [first, second] = [bent(0.3), bent(0.7)]
  return Array.from({ length: count }, (_none, index) => {
    if (index === count - 1) return to
    const share = eased((index + 1) / count)
    const rest = 1 - share
    const at = (axis: 'x' | 'y') =>
      rest ** 3 * from[axis] +
      3 * rest ** 2 * share * first[axis] +
      3 * rest * share ** 2 * second[axis] +
      share ** 3 * to[axis]
    return { x: clamp(at('x'), within.width), y: clamp(at('y'), within.height) }
  })
}

const clamp = (value: number, size: number) => Math.min(size - 1, Math.max(0, Math.round(value)))

/** Slow, fast, slow. */
const eased = (share: number) => share * share * (3 - 2 * share)

/** Uneven pauses that add up to the duration. */
function timed(points: readonly Point[], durationMs: number): Step[] {
  const mean = durationMs / points.length
  const waits = points.map(() =>
    Math.min(3 * mean, Math.max(MIN_WAIT_MS, mean * (1 + UNEVENNESS * normal()))),
  )
  const scale = durationMs / waits.reduce((sum, wait) => sum + wait, 0)
  return points.map((point, index) => ({ point, waitMs: waits[index]! * scale }))
}

/** A normally distributed random number. */
export function normal(): number {
  return Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random())
}
