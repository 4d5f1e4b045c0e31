/** Invalid input. The message is for the sender and says what is wrong. */
export class BadInput extends Error {
  override readonly name = 'BadInput'
  /** Error code of the API. */
  readonly code = 'bad_request'
}
