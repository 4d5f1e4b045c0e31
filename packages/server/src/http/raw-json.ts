import type { Readable } from 'node:stream'

/** A JSON answer that is passed on as bytes, because it is too large to be parsed here. */
export class RawJson {
  readonly body: Readable

  constructor(body: Readable) {
    this.body = body
  }
}
