// What the agent and the process of an app say to each other, over one socket. The other side is the tenant's.

/** Its number in every such process. */
export const CHANNEL = 3

export const FRAME = {
  /** From the process: the app is imported; JSON of its registry. */
  ready: 1,
  /** To the process: JSON of an Invocation. */
  invoke: 2,
  /** To the process, after it: the payload, if there is one. */
  payload: 3,
  /** From the process: what the action returned, as JSON. */
  result: 4,
  /** From the process, at any time: why it cannot go on, for people. */
  failure: 5,
} as const

export interface Invocation {
  readonly id: string
  readonly app: string
  readonly action: string
  readonly hasPayload: boolean
}

/** Payloads and outputs are the longest. */
export const MAX_FRAME_BYTES = 5_000_000
