// The connections that programs begin, each by its first packet, until there is a verdict on it.
import { connectionQueue, type ConnectionFate } from '@berth/contracts/link'
import { acceptPacket, dropPacket, type QueuedPacket } from '@berth/codecs/netlink/packet-queue'

/** How long packets of a connection that gets no answer are dropped without asking again: as long as a program sends them. */
const IGNORED_MS = 60_000
const MAX_KNOWN = 8_192

/** A connection that is being decided about, or was just ignored. */
interface Known {
  readonly ids: number[]
  ignored?: NodeJS.Timeout
}

export interface PendingConnectionsOptions {
  readonly decide: (packet: QueuedPacket) => Promise<ConnectionFate>
  /** Sends a verdict to the kernel. */
  readonly send: (verdict: Buffer) => void
}

export class PendingConnections {
  readonly #options: PendingConnectionsOptions
  readonly #known = new Map<string, Known>()

  constructor(options: PendingConnectionsOptions) {
    this.#options = options
  }

  take(packet: QueuedPacket): void {
    const key = `${packet.sourcePort} ${packet.address} ${packet.port}`
    const known = this.#known.get(key)
    // Sent again, because it waits for its verdict.
    if (known && !known.ignored) return void known.ids.push(packet.id)
    if (known || packet.address === '' || this.#known.size >= MAX_KNOWN) return this.#drop(packet.id)
    this.#known.set(key, { ids: [packet.id] })
    this.#options.decide(packet).then(
      (fate) => this.#settle(key, fate),
      // No server was there for long, or all places were taken. The program may try again.
      () => this.#settle(key, 'drop'),
    )
  }

  #settle(key: string, fate: ConnectionFate | 'drop'): void {
    const known = this.#known.get(key)
    if (!known) return
    const [first = 0, ...repeated] = known.ids
    for (const id of repeated) this.#drop(id)
    this.#known.delete(key)
    if (fate === 'accept') this.#accept(first)
    else if (fate === 'refuse' || fate === 'unreachable') this.#accept(first, connectionQueue[fate])
    else {
      this.#drop(first)
      if (fate === 'ignore') this.#ignore(key)
    }
  }

  #ignore(key: string): void {
    const ignored = setTimeout(() => this.#known.delete(key), IGNORED_MS)
    ignored.unref()
    this.#known.set(key, { ids: [], ignored })
  }

  #accept(id: number, mark?: number): void {
    this.#options.send(acceptPacket(connectionQueue.number, id, mark))
  }

  #drop(id: number): void {
    this.#options.send(dropPacket(connectionQueue.number, id))
  }
}
