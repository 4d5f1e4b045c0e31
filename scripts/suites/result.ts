// The result of one test of a foreign suite.

export type Outcome = 'passed' | 'failed' | 'skipped'

export interface Result {
  readonly outcome: Outcome
  /** What the suite's runner takes to run this test again. It may select some others, too. */
  readonly selector: string
  /** The beginning of its message; only for a failure. */
  readonly error?: string
}

/** By the name of the test: file, then titles. */
export type Results = ReadonlyMap<string, Result>

const MAX_ERROR_CHARACTERS = 300
// oxlint-disable-next-line no-control-regex -- that is how a terminal's colours begin
const COLOURS = /\u001b\[[\d;]*m/g

/** The first lines of a message, on one line. */
export function shortened(message: string): string {
  const text = message.replace(COLOURS, '').replace(/\s+/g, ' ').trim()
  return text.length > MAX_ERROR_CHARACTERS ? `${text.slice(0, MAX_ERROR_CHARACTERS)}…` : text
}
