import type { LoginValues } from './types.ts'

/** Removals come first, so that what is both removed and given is there with its new value. */
export function mergeValues(
  before: LoginValues,
  { values, removed = [] }: { values: LoginValues; removed?: readonly string[] },
): LoginValues {
  const gone = new Set(removed)
  const kept = Object.entries(before).filter(([name]) => !gone.has(name))
  // By entries, so that a name may be anything.
  return Object.fromEntries([...kept, ...Object.entries(values)])
}
