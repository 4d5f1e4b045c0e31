// Which session goes into deep standby next, and how much memory stays free for those that wake.

const MB = 2 ** 20
/** Below so much free memory, sessions go into deep standby without waiting. */
const SHORT_BYTES = 1024 * MB
const SHORT_PART_OF_MEMORY = 0.08
/** Several sessions may wake together, but never all. */
const RESERVED_PART_OF_MEMORY = 0.1
/** What one project may fill of the swap while others have sessions, too. */
const PROJECT_PART = 0.5

export interface Sleeper {
  readonly id: string
  readonly projectId: string
  readonly depth: 'light' | 'deep'
  /** How long it has been frozen. */
  readonly asleepMs: number
  readonly residentBytes: number
  readonly swappedBytes: number
  /** Another attempt would fail again. */
  readonly isUnfit: boolean
  /** It waits in its pool, for somebody who wants it at once. */
  readonly isPooled: boolean
}

export interface Circumstances {
  readonly sleepers: readonly Sleeper[]
  /** After so long, a session goes into deep standby although nobody needs its memory. */
  readonly afterMs: number
  readonly isShort: boolean
  readonly swap: { readonly freeBytes: number; readonly totalBytes: number }
  /** How many projects have sessions here. */
  readonly projects: number
}

/** The one that has been on standby longest. */
export function nextToSink({
  sleepers,
  afterMs,
  isShort,
  swap,
  projects,
}: Circumstances): Sleeper | undefined {
  const isDue = ({ depth, asleepMs, isUnfit, isPooled }: Sleeper) =>
    depth === 'light' && !isUnfit && (isShort || (asleepMs >= afterMs && !isPooled))
  const usedBytes = swap.totalBytes - swap.freeBytes
  const swappedBytes = sum(sleepers, (each) => each.swappedBytes)
  const fits = ({ projectId, residentBytes }: Sleeper) => {
    if (residentBytes > swap.freeBytes) return false
    if (projects <= 1) return true
    const own = sum(
      sleepers.filter((each) => each.projectId === projectId),
      (each) => each.swappedBytes,
    )
    // Swap may be compressed, so a project's part of it is estimated.
    const ownPart = swappedBytes === 0 ? 0 : (own / swappedBytes) * usedBytes
    return ownPart + residentBytes <= PROJECT_PART * swap.totalBytes
  }
  return sleepers
    .filter((each) => isDue(each) && fits(each))
    .toSorted((one, other) => other.asleepMs - one.asleepMs)[0]
}

/** What new sessions may not take, because sleeping ones need it when they wake. */
export function reservedForWakes(sleepers: readonly Sleeper[], hostBytes: number): number {
  const needed = sleepers.map(({ swappedBytes }) => swappedBytes)
  const largest = Math.max(0, ...needed)
  return Math.min(
    sum(sleepers, (each) => each.swappedBytes),
    Math.max(largest, RESERVED_PART_OF_MEMORY * hostBytes),
  )
}

export function isMemoryShort({
  freeBytes,
  reservedBytes,
  hostBytes,
}: {
  freeBytes: number
  reservedBytes: number
  hostBytes: number
}): boolean {
  return freeBytes - reservedBytes < Math.max(SHORT_BYTES, SHORT_PART_OF_MEMORY * hostBytes)
}

function sum<T>(list: readonly T[], of: (each: T) => number): number {
  return list.reduce((total, each) => total + of(each), 0)
}
