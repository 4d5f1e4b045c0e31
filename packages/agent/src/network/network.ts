// The instance's network, where it has one: programs connect to any name and address as on any machine. Nothing leaves
// it. The kernel asks about each connection, egress decides and dials, and the connection comes out at the server.
import { closeSync, writeSync } from 'node:fs'
import { instancePorts, NETWORK_DESCRIPTOR, type ConnectionFate } from '@berth/contracts/link'
import type { QueuedPacket } from '@berth/codecs/netlink/packet-queue'
import type { NativeCalls } from '../user/native-calls.ts'
import { ConnectionQueue } from './connection-queue.ts'
import { EgressAsks } from './egress-asks.ts'
import { startNameServer } from './name-server.ts'
import { receiveDescriptor } from './receive-descriptor.ts'
import { StandIns } from './stand-ins.ts'

export interface NetworkOptions {
  readonly egressSocket: string
  readonly calls: NativeCalls
  readonly onBroken: (error: unknown) => void
}

export class Network {
  /** Resolves when programs can connect. */
  readonly isOpen: Promise<void>
  readonly #asks: EgressAsks
  readonly #standIns = new StandIns()
  #queue: ConnectionQueue | undefined

  constructor({ egressSocket, calls, onBroken }: NetworkOptions) {
    this.#asks = new EgressAsks(egressSocket)
    this.isOpen = this.#open(calls, onBroken)
    this.isOpen.catch(onBroken)
  }

  close(): void {
    this.#queue?.close()
  }

  async #open(calls: NativeCalls, onBroken: (error: unknown) => void): Promise<void> {
    // The network can be made from now on: the instance has its loopback.
    writeSync(NETWORK_DESCRIPTOR, '!')
    const descriptor = await receiveDescriptor(NETWORK_DESCRIPTOR, calls)
    closeSync(NETWORK_DESCRIPTOR)
    this.#queue = new ConnectionQueue({ descriptor, decide: (packet) => this.#decide(packet), onBroken })
    await startNameServer({
      port: instancePorts.names,
      standIns: this.#standIns,
      addressesOf: (name) => this.#asks.addressesOf(name),
    })
  }

  async #decide({ address, port }: QueuedPacket): Promise<ConnectionFate> {
    const isNamed = this.#standIns.isStandIn(address)
    const host = isNamed ? this.#standIns.nameOf(address) : address
    // Of a name that was forgotten.
    if (host === undefined) return 'refuse'
    return this.#asks.fateOf({ host, port, address })
  }
}
