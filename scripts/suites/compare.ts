// Compares the results of a suite in a bare Chromium with those through Berth.
import type { Results } from './result.ts'

export interface Comparison {
  readonly passedBoth: readonly string[]
  readonly failedBoth: readonly string[]
  /** Passed in the bare Chromium and not through Berth, whatever happened there. */
  readonly onlyBare: readonly string[]
  readonly onlyBerth: readonly string[]
  readonly skipped: readonly string[]
}

export function compare(bare: Results, berth: Results): Comparison {
  const passedBoth: string[] = []
  const failedBoth: string[] = []
  const onlyBare: string[] = []
  const onlyBerth: string[] = []
  const skipped: string[] = []
  for (const name of new Set([...bare.keys(), ...berth.keys()])) {
    // A test without a result did not pass: its runner ended too early.
    const inBare = bare.get(name)?.outcome ?? 'failed'
    const inBerth = berth.get(name)?.outcome ?? 'failed'
    if (inBare === 'passed') (inBerth === 'passed' ? passedBoth : onlyBare).push(name)
    else if (inBerth === 'passed') onlyBerth.push(name)
    else if (inBare === 'skipped' && inBerth === 'skipped') skipped.push(name)
    else failedBoth.push(name)
  }
  return { passedBoth, failedBoth, onlyBare, onlyBerth, skipped }
}

export interface BothResults {
  readonly bare: Results
  readonly berth: Results
  /** How many passed through Berth and were not run bare. */
  readonly notRunBare: number
}

/** Runs everything through Berth, and in the bare Chromium only what did not pass. */
export async function berthFirst(run: {
  berth: () => Promise<Results>
  bare: (selectors: readonly string[]) => Promise<Results>
}): Promise<BothResults> {
  const all = await run.berth()
  const berth = new Map([...all].filter(([, { outcome }]) => outcome !== 'passed'))
  const notRunBare = all.size - berth.size
  if (berth.size === 0) return { bare: berth, berth, notRunBare }
  const some = await run.bare([...new Set([...berth.values()].map(({ selector }) => selector))])
  // A selector may bring in others.
  const bare = new Map([...some].filter(([name]) => berth.has(name)))
  return { bare, berth, notRunBare }
}

/**
 * Runs the tests that passed only in the bare Chromium through Berth again, until each has passed once or has had
 * all its tries. Returns the results with those of the later tries.
 */
export async function tryAgain(
  bare: Results,
  berth: Results,
  { tries, run }: { tries: number; run: (selectors: readonly string[]) => Promise<Results> },
): Promise<Results> {
  const results = new Map(berth)
  for (let count = 1; count < tries; count++) {
    const { onlyBare } = compare(bare, results)
    if (onlyBare.length === 0) break
    const selectors = new Set(onlyBare.map((name) => bare.get(name)!.selector))
    const again = await run([...selectors])
    for (const name of onlyBare) {
      const result = again.get(name)
      if (result) results.set(name, result)
    }
  }
  return results
}

/**
 * Runs the tests that passed only in the bare Chromium there once more, with the same others as in their last try
 * through Berth: some pass only after another test in the same browser. Returns the results with those of this run.
 */
export async function confirmBare(
  bare: Results,
  berth: Results,
  run: (selectors: readonly string[]) => Promise<Results>,
): Promise<Results> {
  const { onlyBare } = compare(bare, berth)
  if (onlyBare.length === 0) return bare
  const again = await run([...new Set(onlyBare.map((name) => bare.get(name)!.selector))])
  const confirmed = onlyBare.flatMap((name) => {
    const result = again.get(name)
    return result ? [[name, result] as const] : []
  })
  return new Map([...bare, ...confirmed])
}
