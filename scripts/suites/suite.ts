import type { Arm } from './arm.ts'
import type { SuiteName } from './known-differences.ts'
import type { Results } from './result.ts'

/** Which tests of a suite to run. */
export interface Selection {
  /** As the suite's runner takes it: a regular expression for Playwright, words for pytest. */
  readonly grep?: string | undefined
  /** Files, or selectors of an earlier run. None means all. */
  readonly files: readonly string[]
}

export interface Suite {
  readonly name: SuiteName
  run(arm: Arm, selection: Selection): Promise<Results>
}
