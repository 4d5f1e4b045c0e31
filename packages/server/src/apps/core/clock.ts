// Times in nanoseconds, as the API promises for invocations: a PostgreSQL timestamp only has microseconds.

let offset = BigInt(Date.now()) * 1_000_000n - process.hrtime.bigint()
/** A larger drift means that the system clock was set, so this clock follows it. */
const MAX_DRIFT_NS = 2_000_000n

/** Nanoseconds since 1970. */
export function nowNs(): bigint {
  const rough = BigInt(Date.now()) * 1_000_000n
  const exact = offset + process.hrtime.bigint()
  const drift = exact > rough ? exact - rough : rough - exact
  if (drift <= MAX_DRIFT_NS) return exact
  offset = rough - process.hrtime.bigint()
  return rough
}

/** 2026-01-31T12:00:00.123456789Z */
export function toNanosecondTime(ns: bigint): string {
  const seconds = new Date(Number(ns / 1_000_000n)).toISOString().slice(0, 19)
  return `${seconds}.${String(ns % 1_000_000_000n).padStart(9, '0')}Z`
}
