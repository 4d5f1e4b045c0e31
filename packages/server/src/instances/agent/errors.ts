/** The agent sent no answer or an invalid one. `status` is set if it answered with an error. */
export class AgentError extends Error {
  readonly status: number | undefined

  constructor(message: string, { status, cause }: { status?: number; cause?: unknown } = {}) {
    super(message, cause === undefined ? {} : { cause })
    this.status = status
  }
}

/** The agent understood the request and refuses it (a status below 500): the same request fails again. */
export class AgentRefusal extends AgentError {
  declare readonly status: number

  constructor(message: string, status: number) {
    super(message, { status })
  }
}

/** The agent did not begin to answer in time. */
export class AgentLate extends AgentError {}
