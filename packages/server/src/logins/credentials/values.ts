import type { LoginValues } from './types.ts'

/** Removes first, so that a name that is both removed and given gets its new value. */
export function mergeValues(
  before: LoginValues,
  { values, removed = [] }: { values: LoginValues; removed?: readonly string[] },
): LoginValues {
  const gone = new Set(removed)
  const kept = Object.entries(before).filter(([name]) => !gone.has(name))
  // Uses entries, so that a name can be any text.
  return Object.fromEntries([...kept, ...Object.entries(values)])
}
