import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { log } from '../../log.ts'
import { unpack } from '../../packed.ts'
import { ControlError } from '../operation.ts'
import type { Processes } from './processes.ts'

const PATH = /^\/control\/process\/([^/?]+)\/attach$/

export type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void

/** Handles upgrade requests; always answers. */
export function attacher(processes: Processes): Upgrade {
  return (request, socket, head) => {
    socket.on('error', () => socket.destroy())
    attach(processes, { request, socket, head }).catch((error: unknown) => {
      const isRefusal = error instanceof ControlError
      if (!isRefusal) log('Cannot attach to a terminal', error)
      // The server derives its message from the status.
      const status = !isRefusal
        ? '500 Failed'
        : error.code === 'not_found'
          ? '404 Not Found'
          : '400 Bad Request'
      socket.end(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`)
    })
  }
}

async function attach(
  processes: Processes,
  { request, socket, head }: { request: IncomingMessage; socket: Duplex; head: Buffer },
): Promise<void> {
  const [, id = ''] = PATH.exec(request.url ?? '') ?? []
  const process = processes.get(id)
  if (!process.hasTerminal) throw new ControlError('bad_request', 'Cannot attach: there is no terminal')
  const { attach: accept } = await unpack('terminals')
  accept({ request, socket, head, process })
}
