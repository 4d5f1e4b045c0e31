/** How much is measured: enough to judge, or just enough to see that every row works. */
export interface Effort {
  /** Whether there are enough samples for a verdict. */
  readonly isJudged: boolean
  readonly warmUps: number
  /** How long to wait for a quiet moment before each block. */
  readonly maxCalmWaitMs: number
  /** Pairs of wrk blocks. */
  readonly throughputPairs: number
  readonly throughputSeconds: number
  /** Pairs of blocks of single requests, and how many requests a block has. */
  readonly latencyPairs: number
  readonly requestsPerBlock: number
  /** For some thousand requests, a server that has just started still compiles what it runs. */
  readonly requestsPerWarmUp: number
  readonly startPairs: number
  readonly firstStartPairs: number
  readonly idlePairs: number
  readonly idleSeconds: number
  /** Pairs of sessions created or deleted, each next to a spawned Chromium. */
  readonly createPairs: number
  /** Instances kept warm, and instances kept ready without a browser. */
  readonly warmInstances: number
  readonly warmHeadfulInstances: number
  readonly emptyInstances: number
  /** Warm sessions created at once. */
  readonly burst: number
  /** How long round trips are measured while the pool refills. */
  readonly refillSeconds: number
  /** Pairs of blocks of CDP round trips, and how many a block has. */
  readonly roundTripPairs: number
  readonly callsPerBlock: number
  /** How long a block of CDP throughput takes. */
  readonly pumpSeconds: number
  /** Idle connections whose memory is read, and in how many servers. */
  readonly connections: number
  readonly connectionRounds: number
  readonly podSessions: number
  /** Pairs of blocks of clicks and typing, and how many a block has. */
  readonly inputPairs: number
  readonly inputsPerBlock: number
  /** Pairs of blocks of screenshots, and how many a block has. */
  readonly screenshotPairs: number
  readonly screenshotsPerBlock: number
  /** Pairs of blocks in which a watched page changes its colour, and the changes per block. */
  readonly flipPairs: number
  readonly flipsPerBlock: number
  /** Pairs of blocks that measure the cost of a viewer, and the seconds per block. */
  readonly watchPairs: number
  readonly watchSeconds: number
  /** Pairs of blocks that measure recording, and the seconds per block. */
  readonly recordingPairs: number
  readonly recordingSeconds: number
  /** Pairs of agent loops, and how many run at once. */
  readonly loopPairs: number
  readonly busySessions: number
  /** Sessions created and deleted: warm-up ones, then how many count as early and as late. */
  readonly soakCycles: number
  readonly soakSkipped: number
  readonly soakWindow: number
  /** Pairs of sets of idle sessions whose memory is read, the size of a set, and how long they idle first. */
  readonly memoryPairs: number
  readonly memorySessions: number
  readonly memorySettleSeconds: number
  /** Sessions on standby, and how often and how long their CPU time is measured. */
  readonly standbySessions: number
  readonly standbyWindows: number
  readonly standbySeconds: number
  /** Pairs of wake-ups, over how many sessions in turn, after how long; the long ones only on request. */
  readonly wakePairs: number
  readonly wakeSessions: number
  readonly frozenSeconds: number
  readonly longWakePairs: number
  readonly longFrozenSeconds: number
  /** Seconds for sessions that are frozen with open sockets. */
  readonly standbyAfterSeconds: number
  /** Sessions in deep standby, how many of them wake on each kind of swap, and how many sleep beside one that works. */
  readonly deepSessions: number
  readonly deepWakes: number
  readonly deepNeighbours: number
  readonly deepPairs: number
  /** Pairs of written files, and their size. */
  readonly filePairs: number
  readonly fileMegabytes: number
  /** Size of the profile that a session is created with. */
  readonly profileMegabytes: number
  /** Loads of the dashboard's first page. */
  readonly pageLoads: number
  /** Sessions in its list, and how often and how long somebody scrolls them. */
  readonly listedSessions: number
  readonly scrolls: number
  readonly scrollSeconds: number
  /** Events of a timeline, and how often somebody opens it. */
  readonly timelineEvents: number
  readonly timelineOpens: number
  /** Sessions on an open dashboard, and how often and how long the server's CPU time is measured. */
  readonly watchedSessions: number
  readonly dashboardWindows: number
  readonly dashboardWindowSeconds: number
  /** How often a server is killed. */
  readonly kills: number
  /** Live sessions, and sessions that have ended, that servers have; pairs of blocks with them. */
  readonly liveSessions: readonly number[]
  readonly pastSessions: readonly number[]
  readonly growthPairs: number
  /** Extra rounds while an interval spans its goal. */
  readonly repeats: number
}

export const fullEffort: Effort = {
  isJudged: true,
  warmUps: 3,
  maxCalmWaitMs: 20_000,
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
  warmHeadfulInstances: 4,
  emptyInstances: 2,
  burst: 8,
  refillSeconds: 2,
  roundTripPairs: 30,
  callsPerBlock: 40,
  pumpSeconds: 5,
  connections: 200,
  connectionRounds: 5,
  podSessions: 400,
  inputPairs: 20,
  inputsPerBlock: 5,
  screenshotPairs: 20,
  screenshotsPerBlock: 3,
  flipPairs: 20,
  flipsPerBlock: 10,
  watchPairs: 20,
  watchSeconds: 3,
  recordingPairs: 8,
  recordingSeconds: 5,
  loopPairs: 20,
  busySessions: 8,
  soakCycles: 300,
  soakSkipped: 20,
  soakWindow: 30,
  memoryPairs: 4,
  memorySessions: 8,
  memorySettleSeconds: 10,
  standbySessions: 20,
  standbyWindows: 5,
  standbySeconds: 30,
  wakePairs: 20,
  wakeSessions: 8,
  frozenSeconds: 10,
  longWakePairs: 0,
  longFrozenSeconds: 180,
  standbyAfterSeconds: 5,
  deepSessions: 100,
  deepWakes: 60,
  deepNeighbours: 20,
  deepPairs: 6,
  filePairs: 20,
  fileMegabytes: 256,
  profileMegabytes: 100,
  pageLoads: 20,
  listedSessions: 10_000,
  scrolls: 10,
  scrollSeconds: 4,
  timelineEvents: 50_000,
  timelineOpens: 12,
  watchedSessions: 50,
  dashboardWindows: 5,
  dashboardWindowSeconds: 30,
  kills: 20,
  liveSessions: [10, 50, 100],
  pastSessions: [1_000, 10_000, 100_000],
  growthPairs: 20,
  repeats: 3,
}

/** For a first look: a third of the pairs, once. It prints verdicts, but quote only those of a full run. */
export const quickEffort: Effort = {
  ...fullEffort,
  warmUps: 1,
  maxCalmWaitMs: 2_000,
  throughputPairs: 4,
  latencyPairs: 12,
  startPairs: 7,
  createPairs: 7,
  roundTripPairs: 12,
  connectionRounds: 3,
  podSessions: 200,
  inputPairs: 8,
  screenshotPairs: 7,
  flipPairs: 7,
  watchPairs: 7,
  recordingPairs: 4,
  loopPairs: 7,
  soakCycles: 100,
  memoryPairs: 2,
  wakePairs: 8,
  deepSessions: 20,
  deepWakes: 20,
  deepPairs: 2,
  filePairs: 6,
  pageLoads: 7,
  scrolls: 2,
  timelineOpens: 5,
  dashboardWindows: 2,
  dashboardWindowSeconds: 20,
  kills: 7,
  growthPairs: 7,
  repeats: 0,
}

/** Long enough for a profile. The profiler slows our server down, so its numbers are too high. */
export const profileEffort: Effort = {
  ...fullEffort,
  isJudged: false,
  maxCalmWaitMs: 0,
  throughputPairs: 2,
  latencyPairs: 8,
  repeats: 0,
}

export const smokeEffort: Effort = {
  isJudged: false,
  warmUps: 0,
  maxCalmWaitMs: 0,
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
  // The same size as the burst, so that all rows with a pool share one server.
  warmInstances: 2,
  warmHeadfulInstances: 1,
  emptyInstances: 1,
  burst: 2,
  refillSeconds: 0.2,
  roundTripPairs: 1,
  callsPerBlock: 10,
  pumpSeconds: 0.2,
  connections: 10,
  connectionRounds: 1,
  podSessions: 4,
  inputPairs: 1,
  inputsPerBlock: 2,
  screenshotPairs: 1,
  screenshotsPerBlock: 1,
  flipPairs: 1,
  flipsPerBlock: 2,
  watchPairs: 1,
  watchSeconds: 0.5,
  recordingPairs: 1,
  recordingSeconds: 1,
  loopPairs: 1,
  busySessions: 1,
  soakCycles: 2,
  soakSkipped: 0,
  soakWindow: 1,
  memoryPairs: 1,
  memorySessions: 1,
  memorySettleSeconds: 0,
  standbySessions: 1,
  standbyWindows: 1,
  standbySeconds: 1,
  wakePairs: 1,
  wakeSessions: 1,
  frozenSeconds: 0.5,
  longWakePairs: 0,
  longFrozenSeconds: 180,
  standbyAfterSeconds: 1,
  deepSessions: 2,
  deepWakes: 2,
  deepNeighbours: 1,
  deepPairs: 1,
  filePairs: 1,
  fileMegabytes: 4,
  profileMegabytes: 4,
  pageLoads: 1,
  listedSessions: 300,
  scrolls: 1,
  scrollSeconds: 0.5,
  timelineEvents: 2_000,
  timelineOpens: 1,
  watchedSessions: 2,
  dashboardWindows: 1,
  dashboardWindowSeconds: 1,
  kills: 1,
  liveSessions: [1, 2],
  pastSessions: [5, 10],
  growthPairs: 1,
  repeats: 0,
}
