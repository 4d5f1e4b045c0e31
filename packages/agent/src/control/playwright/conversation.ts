// The messages between the agent and a runner, over one socket.

export const FRAME = {
  /** To the runner: JSON of a Task. */
  run: 1,
  /** From the runner: the code starts now. */
  begun: 2,
  stdout: 3,
  stderr: 4,
  /** The end of a run: the return value of the code, as JSON. */
  result: 5,
  /** The end of a run: JSON of a Failure. */
  failure: 6,
  /** From the runner: JSON of the Tab that the code gets as `page`. */
  tab: 7,
  /** To the runner, at any time: JSON of `others` as in a Task. */
  others: 8,
  /** From the process of a REPL: the value of the last expression, as text. */
  value: 9,
  /** From the process of a REPL: text that `display()` shows. */
  display: 10,
  /** From the process of a REPL: the bytes of an image; empty for one that is too large. */
  image: 11,
} as const

export interface Task {
  /** Address of Chromium's browser-wide websocket. Null if Chromium is not ready: only a REPL runs without it. */
  readonly endpoint: string | null
  readonly code: string
  /** The tab that `page` is; by default the one that was used last. */
  readonly target?: string
  /** Tabs of other executors. */
  readonly others: readonly string[]
}

export interface Tab {
  readonly target_id: string
  readonly created: boolean
}

export interface Failure {
  readonly error: string
  /** The stack, human-readable. */
  readonly stack: string
}

export const MAX_OUTPUT_BYTES = 1024 * 1024
export const MAX_RESULT_BYTES = 8 * 1024 * 1024
/** Enough for a result, and for the code of a task, which is longer as JSON. */
export const MAX_FRAME_BYTES = MAX_RESULT_BYTES
