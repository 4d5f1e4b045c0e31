// The messages between the agent and the process of an app, over one socket. The process is untrusted.

/** File descriptor of the socket in the process. */
export const CHANNEL = 3

export const FRAME = {
  /** From the process: the app is imported. JSON of its actions. */
  ready: 1,
  /** To the process: JSON of an Invocation. */
  invoke: 2,
  /** To the process, after `invoke`: the payload, if there is one. */
  payload: 3,
  /** From the process: the return value of the action, as JSON. */
  result: 4,
  /** From the process, at any time: why it failed, human-readable. */
  failure: 5,
} as const

export interface Invocation {
  readonly id: string
  readonly app: string
  readonly action: string
  readonly hasPayload: boolean
}

/** Enough for the largest payload or output. */
export const MAX_FRAME_BYTES = 5_000_000
