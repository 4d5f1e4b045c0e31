/** How much is measured: enough to judge, or just enough to see that every arm works. */
export interface Effort {
  /** Whether there are enough samples for a verdict. */
  readonly isJudged: boolean
  readonly warmUps: number
  /** Pairs of wrk blocks. */
  readonly throughputPairs: number
  readonly throughputSeconds: number
  /** Pairs of blocks of single requests, and how many requests a block has. */
  readonly latencyPairs: number
  readonly requestsPerBlock: number
  /** A server that has just started still compiles what it runs, for some thousand requests. */
  readonly requestsPerWarmUp: number
  readonly startPairs: number
  readonly firstStartPairs: number
  readonly idlePairs: number
  readonly idleSeconds: number
  /** Pairs of sessions created or deleted, each with a Chromium spawned beside it. */
  readonly createPairs: number
  /** Held ready where a warm session is wanted; and without a browser in it. */
  readonly warmInstances: number
  readonly emptyInstances: number
  /** Pairs of blocks of CDP round trips, and how many a block has. */
  readonly roundTripPairs: number
  readonly callsPerBlock: number
  /** Further rounds while an interval spans its goal. */
  readonly repeats: number
}

export const fullEffort: Effort = {
  isJudged: true,
  warmUps: 3,
  throughputPairs: 6,
  throughputSeconds: 5,
  latencyPairs: 24,
  requestsPerBlock: 100,
  requestsPerWarmUp: 1_000,
  startPairs: 20,
  firstStartPairs: 6,
  idlePairs: 6,
  idleSeconds: 35,
  createPairs: 20,
  warmInstances: 4,
  emptyInstances: 2,
  roundTripPairs: 30,
  callsPerBlock: 40,
  repeats: 3,
}

/** Long enough for a profile, in which our arm is slower than it is. */
export const profileEffort: Effort = {
  ...fullEffort,
  isJudged: false,
  throughputPairs: 2,
  latencyPairs: 8,
  repeats: 0,
}

export const smokeEffort: Effort = {
  isJudged: false,
  warmUps: 0,
  throughputPairs: 1,
  throughputSeconds: 1,
  latencyPairs: 1,
  requestsPerBlock: 10,
  requestsPerWarmUp: 10,
  startPairs: 1,
  firstStartPairs: 1,
  idlePairs: 1,
  idleSeconds: 1,
  createPairs: 1,
  warmInstances: 1,
  emptyInstances: 1,
  roundTripPairs: 1,
  callsPerBlock: 10,
  repeats: 0,
}
