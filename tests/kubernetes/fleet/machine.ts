// The machine of the tests as Pods see it, and the nodes of its cluster. scripts/kubernetes says where they are.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { cleanUpAfter, type Owner } from '../../fixtures/cleanup.ts'

const { BERTH_TEST_MACHINE, BERTH_TEST_NODES } = process.env
if (!BERTH_TEST_MACHINE || !BERTH_TEST_NODES) {
  throw new Error('These tests need a cluster of their own: run them with `npm run test:kubernetes`')
}

/** Pods reach it. */
export const machine = BERTH_TEST_MACHINE

export interface TestNode {
  readonly name: string
  readonly address: string
  /** The machine's end of its only wire. */
  readonly wire: string
  /** A process in its network and its mounts. */
  readonly pid: number
}

export const nodes = JSON.parse(BERTH_TEST_NODES) as readonly TestNode[]

/** Nothing comes from the node or goes there, until `mend`. */
export function cutOff(owner: Owner, { wire }: TestNode): { mend(): void } {
  const set = (state: 'up' | 'down') => execFileSync('ip', ['link', 'set', wire, state])
  set('down')
  cleanUpAfter(owner, () => void set('up'))
  return { mend: () => void set('up') }
}

/** Runs a command on a node, and returns what it prints. */
export function runOn({ pid }: TestNode, ...command: string[]): string {
  return execFileSync('nsenter', [`--target=${pid}`, '--mount', '--net', ...command], { encoding: 'utf8' })
}

/** Lets Pods in to what listens on a port of loopback, or at the path of a socket. Returns the port that they connect to. */
export async function openToPods(owner: Owner, target: number | string): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const inside = typeof target === 'number' ? connect(target, '127.0.0.1') : connect(target)
    for (const socket of [client, inside]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.once('close', () => {
        sockets.delete(socket)
        client.destroy()
        inside.destroy()
      })
    }
    client.pipe(inside).pipe(client)
  })
  server.listen(0, machine)
  await once(server, 'listening')
  cleanUpAfter(owner, async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  })
  return (server.address() as AddressInfo).port
}
