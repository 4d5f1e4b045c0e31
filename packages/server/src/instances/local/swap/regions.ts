// Regions of the memory of a process.

export interface Region {
  readonly start: bigint
  readonly end: bigint
}

/** Of one instance. Many times what browsers have. */
export const MAX_REGIONS = 4096
/** Bringing a few pages more is quicker than another region. */
const MAX_GAP = 32n * 1024n

/** Joins those that are close to each other; they are in order. What is beyond the limits is left out. */
export function joinRegions(
  regions: readonly Region[],
  limit: { readonly bytes: number; readonly regions: number },
): Region[] {
  const joined: { start: bigint; end: bigint }[] = []
  let left = BigInt(Math.max(0, limit.bytes))
  for (const { start, end } of regions) {
    const last = joined.at(-1)
    const isClose = last !== undefined && start - last.end <= MAX_GAP
    const bytes = isClose ? end - last.end : end - start
    if (bytes > left || (!isClose && joined.length >= limit.regions)) break
    left -= bytes
    if (isClose) last.end = end
    else joined.push({ start, end })
  }
  return joined
}
