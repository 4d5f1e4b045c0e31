import { MAX_OUTPUT_BYTES } from './conversation.ts'

/** The output of a run, up to a limit. */
export class Output {
  #pieces: Buffer[] = []
  #length = 0

  add(piece: Buffer): void {
    const room = MAX_OUTPUT_BYTES - this.#length
    if (room < 0) return
    this.#length += piece.length
    // Copied, because it would keep the larger buffer that it is part of.
    this.#pieces.push(Buffer.from(piece.subarray(0, room)))
    if (this.#length > MAX_OUTPUT_BYTES) this.#pieces.push(Buffer.from('\n[cut: more than 1 MiB]\n'))
  }

  get text(): string {
    return Buffer.concat(this.#pieces).toString()
  }
}
