// The agent's side of the link: it listens, and servers connect. The first line on a connection says what it is for.
import { createServer, type Server, type Socket } from 'node:net'
import { handOver, linkPurposes, type LinkPurpose } from '@berth/contracts/link'

const MAX_PURPOSE_BYTES = 16
const numbered = /^(take|give) (\d{1,10})$/
const NEWLINE = 0x0a

export type LinkHandlers = Readonly<Record<LinkPurpose, (connection: Socket) => void>> & {
  readonly [handOver.take]: (connection: Socket, number: number) => void
  readonly [handOver.give]: (connection: Socket, number: number) => void
}

export interface LinkOptions {
  /** A path to listen on, or the descriptor of a socket that listens already. */
  readonly at: string | number
  readonly handlers: LinkHandlers
}

export function openLink({ at, handlers }: LinkOptions): Server {
  const server = createServer((connection) => serve(connection, handlers))
  // No more file descriptors, for example. Connections wait until there are some.
  server.on('error', () => {})
  return server.listen(typeof at === 'number' ? { fd: at } : { path: at })
}

function serve(connection: Socket, handlers: LinkHandlers): void {
  connection.on('error', () => {})
  let head = Buffer.alloc(0)
  const onReadable = () => {
    const chunk = connection.read() as Buffer | null
    if (chunk === null) return
    head = Buffer.concat([head, chunk])
    const end = head.indexOf(NEWLINE)
    if (end === -1 && head.length <= MAX_PURPOSE_BYTES) return
    const purpose = head.toString('latin1', 0, Math.max(0, end))
    connection.off('readable', onReadable)
    const rest = head.subarray(end + 1)
    if (rest.length > 0) connection.unshift(rest)
    const [, word, number] = numbered.exec(purpose) ?? []
    if (word === handOver.take || word === handOver.give) return handlers[word](connection, Number(number))
    if (end > MAX_PURPOSE_BYTES || !isPurpose(purpose)) return void connection.destroy()
    handlers[purpose](connection)
  }
  connection.on('readable', onReadable)
}

const isPurpose = (line: string): line is LinkPurpose => (linkPurposes as readonly string[]).includes(line)
