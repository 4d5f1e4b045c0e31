// The kernel's queue of connections that programs begin. It holds the first packet of each until it gets a verdict.
import { read, writeSync } from 'node:fs'
import { connectionQueue } from '@berth/contracts/link'
import { askForAnswer, readPackets } from '@berth/codecs/netlink/packet-queue'
import { PendingConnections, type PendingConnectionsOptions } from './pending-connections.ts'

/** One read returns one packet, of which the kernel shows the headers. */
const READ_BYTES = 8_192

export interface ConnectionQueueOptions extends Pick<PendingConnectionsOptions, 'decide'> {
  /** Of the kernel's queue. */
  readonly descriptor: number
  readonly onBroken: (error: Error) => void
}

export class ConnectionQueue {
  readonly #options: ConnectionQueueOptions
  readonly #pending: PendingConnections
  readonly #buffer = Buffer.allocUnsafeSlow(READ_BYTES)

  constructor(options: ConnectionQueueOptions) {
    this.#options = options
    this.#pending = new PendingConnections({
      decide: options.decide,
      send: (verdict) => this.#write(verdict),
    })
    this.#read()
  }

  /** Ends the read that waits: the process could not exit before. */
  close(): void {
    this.#write(askForAnswer(connectionQueue.number))
  }

  // The descriptor is neither a file nor a stream socket, so a thread of Node's pool waits for it.
  #read(): void {
    read(this.#options.descriptor, this.#buffer, 0, READ_BYTES, null, (error, length) => {
      // More packets came than the socket holds; those are sent again.
      if (error && error.code !== 'ENOBUFS' && error.code !== 'EINTR') return this.#options.onBroken(error)
      if (!error) {
        for (const packet of readPackets(this.#buffer.subarray(0, length))) this.#pending.take(packet)
      }
      this.#read()
    })
  }

  #write(bytes: Buffer): void {
    try {
      writeSync(this.#options.descriptor, bytes)
    } catch {
      // The packet is gone, together with who sent it; or nothing waits any more.
    }
  }
}
