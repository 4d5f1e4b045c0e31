// Sends pieces that nobody else has, and gives the memory of each back once it is written.
import type { ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { Writable } from 'node:stream'
import { freeBuffer } from '@berth/kit/free-buffer'

type Done = (error?: Error | null) => void

export class GivingBack extends Writable {
  readonly #response: ServerResponse
  readonly #socket: unknown

  constructor(response: ServerResponse) {
    super({ highWaterMark: 1 })
    this.#response = response
    this.#socket = response.socket
    response.once('close', () => this.destroy())
  }

  override _write(piece: Buffer, _encoding: string, done: Done): void {
    this.#response.write(piece, (error) => {
      // What a socket has written is in the kernel; any other stream may just have handed it on.
      if (!error && this.#socket instanceof Socket) freeBuffer(piece)
      done(error)
    })
  }

  override _final(done: Done): void {
    this.#response.end(() => done())
  }

  override _destroy(error: Error | null, done: Done): void {
    if (!this.#response.writableEnded) this.#response.destroy()
    done(error)
  }
}
