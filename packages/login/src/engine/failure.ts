import type { FailureCode } from '../run/run.ts'

/** Ends a login. The message is for users and contains none of their values. */
export class LoginFailed extends Error {
  override readonly name = 'LoginFailed'
  readonly code: FailureCode
  readonly websiteError: string | undefined

  constructor(code: FailureCode, message: string, websiteError?: string) {
    super(message)
    this.code = code
    this.websiteError = websiteError
  }
}
