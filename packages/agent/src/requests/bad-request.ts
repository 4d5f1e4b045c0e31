/** A request that the agent refuses, with the status of the answer. */
export class BadRequest extends Error {
  readonly status: number

  constructor(message: string, status = 400) {
    super(message)
    this.status = status
  }
}
