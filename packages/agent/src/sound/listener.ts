// A listening socket that another program will serve. Node can listen only by accepting, and whom it accepts it cannot
// hand over. So the socket is made by native calls, and this only learns that somebody waits at it.
import { rmSync } from 'node:fs'
import { Socket } from 'node:net'
import type { NativeCalls } from '../user/native-calls.ts'

const AF_UNIX = 1
const SOCK_STREAM = 1
const SOCK_CLOEXEC = 0o2000000
/** A copy that no program inherits. */
const F_DUPFD_CLOEXEC = 1030
const MAX_PATH_BYTES = 107
/** Further clients wait in connect(). */
const MAX_WAITING = 64

export class Listener {
  readonly #calls: NativeCalls
  readonly path: string
  readonly descriptor: number
  #watched: Socket | undefined
  #isClosed = false

  constructor(path: string, calls: NativeCalls) {
    if (Buffer.byteLength(path) > MAX_PATH_BYTES) throw new Error(`the path ${path} is too long for a socket`)
    this.#calls = calls
    this.path = path
    rmSync(path, { force: true })
    this.descriptor = calls.socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)
    const address = Buffer.alloc(2 + MAX_PATH_BYTES + 1)
    address.writeUInt16LE(AF_UNIX, 0)
    address.write(path, 2)
    const length = 2 + Buffer.byteLength(path) + 1
    const isListening =
      this.descriptor >= 0 &&
      calls.bind(this.descriptor, address, length) === 0 &&
      calls.listen(this.descriptor, MAX_WAITING) === 0
    if (!isListening) {
      this.close()
      throw new Error(`the socket ${path} cannot be made`)
    }
  }

  /** Calls back once somebody waits. Whoever serves the socket then accepts. */
  onWaiting(tell: () => void): void {
    this.#watched?.destroy()
    // Its number may be another descriptor's by now.
    if (this.#isClosed) return
    // Reading is tried only when somebody waits, and then fails, because nothing can be read from a listening socket.
    const copy = this.#calls.fcntl(this.descriptor, F_DUPFD_CLOEXEC, 0)
    const watched = new Socket({ fd: copy, readable: true, writable: false })
    this.#watched = watched
    watched.once('error', () => {
      if (this.#watched === watched) tell()
    })
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#watched?.destroy()
    this.#watched = undefined
    if (this.descriptor >= 0) this.#calls.close(this.descriptor)
    rmSync(this.path, { force: true })
  }
}
