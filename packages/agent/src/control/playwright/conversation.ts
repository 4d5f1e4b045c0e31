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
} as const

export interface Task {
  /** Address of Chromium's browser-wide websocket. */
  readonly endpoint: string
  readonly code: string
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
