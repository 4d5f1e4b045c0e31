/** What somebody sent cannot be read: the message is for them, and says why. */
export class BadInput extends Error {
  override readonly name = 'BadInput'
  /** As the API calls it. */
  readonly code = 'bad_request'
}
