import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { log } from '../../log/log.ts'
import type { AnswerUpgrade } from '../../requests/answer.ts'
import { ControlError } from '../calls/operation.ts'
import type { Attachment } from './attach-server.ts'
import type { Processes } from './processes.ts'

const PATH = /^\/control\/process\/([^/?]+)\/attach$/

export interface AttacherOptions {
  readonly processes: Processes
  /** Loads what serves terminals, which are seldom used. */
  readonly loadTerminals: () => Promise<(attachment: Attachment) => void>
}

/** Handles upgrade requests; always answers. */
export function attacher(options: AttacherOptions): AnswerUpgrade {
  return (request, socket, head) => {
    socket.on('error', () => socket.destroy())
    attach(options, { request, socket, head }).catch((error: unknown) => {
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
  { processes, loadTerminals }: AttacherOptions,
  { request, socket, head }: { request: IncomingMessage; socket: Duplex; head: Buffer },
): Promise<void> {
  const [, id = ''] = PATH.exec(request.url ?? '') ?? []
  const process = processes.get(id)
  if (!process.hasTerminal) throw new ControlError('bad_request', 'Cannot attach: there is no terminal')
  const accept = await loadTerminals()
  accept({ request, socket, head, process })
}
