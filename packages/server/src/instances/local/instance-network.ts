// Gives one instance its network. The agent writes a byte when it runs, because then the loopback is up. It gets the
// kernel's queue of connections; the server gets the socket where accepted connections come out.
import { closeSync } from 'node:fs'
import type { Socket } from 'node:net'
import { connectionQueue, instancePorts } from '@berth/contracts/link'
import { descriptorOf } from '@berth/kit/descriptor-of'
import { EGRESS_QUEUE, type EgressListener } from './egress.ts'
import type { NamespaceSockets } from './namespace-sockets.ts'
import type { NetworkMaker } from './network-maker.ts'
import type { RuleFiles } from './shared-files.ts'

export interface InstanceNetworkOptions {
  readonly maker: NetworkMaker
  readonly rules: RuleFiles
  readonly sockets: NamespaceSockets
  readonly egress: EgressListener
  readonly processes: () => readonly number[]
}

/** `agent` is the other end of the socket that the agent inherited. */
export async function makeNetwork(agent: Socket, options: InstanceNetworkOptions): Promise<void> {
  const { maker, rules, sockets, egress, processes } = options
  const namespaces = sockets.findBoth(processes)
  if (!namespaces) throw new Error('Cannot make the network: the instance has ended')
  const { user, network } = namespaces
  try {
    await maker.make({ user, network, rules })
    // A socket would keep the network of an instance that ended meanwhile.
    if (processes().length === 0) throw new Error('Cannot make the network: the instance has ended')
    await handOverArrivals({ sockets, egress, network })
    const queue = sockets.openPacketQueue(network, connectionQueue.number)
    try {
      const fd = descriptorOf(agent)
      if (fd === undefined) throw new Error('Cannot make the network: the agent has ended')
      sockets.sendDescriptor(fd, queue)
    } finally {
      closeSync(queue)
    }
  } finally {
    closeSync(user)
    closeSync(network)
    agent.destroy()
  }
}

/** Also for an instance that an earlier server left: its socket ended with that server. */
export async function handOverArrivals({
  sockets,
  egress,
  network,
}: Pick<InstanceNetworkOptions, 'sockets' | 'egress'> & { network: number }): Promise<void> {
  await egress.acceptArrivals({ fd: sockets.listen(network, instancePorts.arrivals, EGRESS_QUEUE) })
}
