// Runs blocks of both sides in the order A B B A A B B A, so that a drift of the machine affects both.
import { setTimeout as pause } from 'node:timers/promises'
import type { NoiseCheck, Slowdowns } from './noise-check.ts'
import type { Pair, Readings } from './metric.ts'
import { cpuTicks, stolenShare } from './steal.ts'

/** A block is also dropped if the hypervisor took more than this share of the machine. */
const MAX_STOLEN_SHARE = 0.05

export type Block = () => Promise<Readings>

export interface Blocks {
  readonly ours: Block
  readonly baseline: Block
}

interface CheckedReadings {
  readonly readings: Readings
  readonly slowdown: number
  readonly stolenShare: number
  readonly isClean: boolean
}

/** A pair as stored in the raw samples, clean or not. */
export interface CheckedPair extends Pair {
  readonly isClean: boolean
  readonly slowdown: readonly [ours: number, baseline: number]
  readonly stolenShare: readonly [ours: number, baseline: number]
}

export interface Collecting {
  /** The number of clean pairs to reach, and the limit on measured pairs. */
  readonly wanted: number
  readonly maxPairs: number
  /** How long to wait for a quiet moment before each block. */
  readonly maxWaitMs: number
  /**
   * The pause between a block and the noise check. Work that the block itself caused, such as painting or
   * garbage collection, must not count as noise.
   */
  readonly restMs: number
  readonly noiseCheck: NoiseCheck
  readonly signal: AbortSignal
}

export async function collectPairs(
  blocks: Blocks,
  { wanted, maxPairs, maxWaitMs, restMs, noiseCheck, signal }: Collecting,
): Promise<CheckedPair[]> {
  const pairs: CheckedPair[] = []
  const run = async (block: Block): Promise<CheckedReadings> => {
    signal.throwIfAborted()
    const slowdownsBefore = await noiseCheck.waitForQuiet({ maxMs: maxWaitMs, signal })
    return runChecked(block, { slowdownsBefore, restMs, noiseCheck })
  }
  // Dropped pairs are measured again, up to a limit: some machines are never quiet.
  for (let attempt = 0; attempt < maxPairs && countClean(pairs) < wanted; attempt++) {
    const isOursFirst = attempt % 2 === 0
    const first = await run(isOursFirst ? blocks.ours : blocks.baseline)
    const second = await run(isOursFirst ? blocks.baseline : blocks.ours)
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
  {
    slowdownsBefore,
    restMs,
    noiseCheck,
  }: { slowdownsBefore: Slowdowns; restMs: number; noiseCheck: NoiseCheck },
): Promise<CheckedReadings> {
  const before = cpuTicks()
  const readings = await block()
  const stolen = stolenShare(before, cpuTicks())
  await pause(restMs)
  const slowdowns = await noiseCheck.measure()
  return {
    readings,
    slowdown: Math.max(...slowdownsBefore, ...slowdowns),
    stolenShare: stolen,
    isClean:
      !noiseCheck.isNoisy(slowdownsBefore) && !noiseCheck.isNoisy(slowdowns) && stolen <= MAX_STOLEN_SHARE,
  }
}

function countClean(pairs: readonly CheckedPair[]): number {
  return pairs.filter((pair) => pair.isClean).length
}
