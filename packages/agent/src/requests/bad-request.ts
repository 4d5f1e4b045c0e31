/** A request that the agent refuses, with the status of the answer. */
export class BadRequest extends Error {
  override readonly name = 'BadRequest'
  readonly status: number

  constructor(message: string, status = 400) {
    super(message)
    this.status = status
  }
}

/** Compares the name, because packed modules have their own copy of the class. */
export function isBadRequest(error: unknown): error is BadRequest {
  return error instanceof Error && error.name === 'BadRequest'
}
