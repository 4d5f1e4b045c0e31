// Blocks of the two arms in turn, A B B A A B B A, so that a drift of the machine hits both alike.
import { setTimeout as pause } from 'node:timers/promises'
import type { Canary, Chirp } from './canary.ts'
import type { Pair, Readings } from './metric.ts'
import { cpuTicks, stolenShare } from './steal.ts'

/** More than this much of the machine taken away while a block ran, and the block is dropped too. */
const MAX_STOLEN_SHARE = 0.05

export type Block = () => Promise<Readings>

export interface Arms {
  readonly ours: Block
  readonly baseline: Block
}

interface CheckedReadings {
  readonly readings: Readings
  readonly slowdown: number
  readonly stolenShare: number
  readonly isClean: boolean
}

/** A pair as it is kept in the raw samples, clean or not. */
export interface CheckedPair extends Pair {
  readonly isClean: boolean
  readonly slowdown: readonly [ours: number, baseline: number]
  readonly stolenShare: readonly [ours: number, baseline: number]
}

export interface Collecting {
  /** Clean pairs to have, and pairs to measure at most for that. */
  readonly wanted: number
  readonly most: number
  /** How long to wait for a quiet moment before each block. */
  readonly maxWaitMs: number
  /**
   * How long after each block the canary is silent: what the block itself set going, a page that still paints
   * or garbage that is collected, is nobody else on the core.
   */
  readonly restMs: number
  readonly canary: Canary
  readonly signal: AbortSignal
}

export async function collectPairs(
  arms: Arms,
  { wanted, most, maxWaitMs, restMs, canary, signal }: Collecting,
): Promise<CheckedPair[]> {
  const pairs: CheckedPair[] = []
  const run = async (block: Block): Promise<CheckedReadings> => {
    signal.throwIfAborted()
    const chirpBefore = await canary.calm({ maxMs: maxWaitMs, signal })
    return runChecked(block, { chirpBefore, restMs, canary })
  }
  // Dropped pairs are made up for, but on a machine that is never quiet this has to end.
  for (let attempt = 0; attempt < most && countClean(pairs) < wanted; attempt++) {
    const isOursFirst = attempt % 2 === 0
    const first = await run(isOursFirst ? arms.ours : arms.baseline)
    const second = await run(isOursFirst ? arms.baseline : arms.ours)
    const [ours, baseline] = isOursFirst ? [first, second] : [second, first]
    pairs.push({
      ours: ours.readings,
      baseline: baseline.readings,
      isClean: ours.isClean && baseline.isClean,
      slowdown: [ours.slowdown, baseline.slowdown],
      stolenShare: [ours.stolenShare, baseline.stolenShare],
    })
  }
  return pairs
}

async function runChecked(
  block: Block,
  { chirpBefore, restMs, canary }: { chirpBefore: Chirp; restMs: number; canary: Canary },
): Promise<CheckedReadings> {
  const before = cpuTicks()
  const readings = await block()
  const stolen = stolenShare(before, cpuTicks())
  await pause(restMs)
  const chirp = await canary.chirp()
  return {
    readings,
    slowdown: Math.max(...chirpBefore, ...chirp),
    stolenShare: stolen,
    isClean: !canary.isAlarmed(chirpBefore) && !canary.isAlarmed(chirp) && stolen <= MAX_STOLEN_SHARE,
  }
}

function countClean(pairs: readonly CheckedPair[]): number {
  return pairs.filter((pair) => pair.isClean).length
}
