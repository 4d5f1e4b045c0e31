// The agent's side of the link: it keeps a few idle connections open, so that the server never waits
// for one. The first line on a connection says what it is for.
import { connect, type Socket } from 'node:net'
import { linkPurposes, SPARE_LINKS, type LinkPurpose } from '@berth/contracts/link'

const MAX_PURPOSE_BYTES = 16
/** Delay between attempts while no server listens; random, so that instances do not all dial at once. */
const RETRY_MS = { least: 100, spread: 100 }
const NEWLINE = 0x0a

export type LinkHandlers = Readonly<Record<LinkPurpose, (connection: Socket) => void>>

export class Link {
  readonly #path: string
  readonly #handlers: LinkHandlers

  constructor({ path, handlers }: { path: string; handlers: LinkHandlers }) {
    this.#path = path
    this.#handlers = handlers
  }

  open(): void {
    for (let spare = 0; spare < SPARE_LINKS; spare++) this.#dial()
  }

  #dial(): void {
    const connection = connect(this.#path)
    const onLost = () => setTimeout(() => this.#dial(), RETRY_MS.least + Math.random() * RETRY_MS.spread)
    connection.on('error', () => {})
    connection.once('close', onLost)

    let head = Buffer.alloc(0)
    const onReadable = () => {
      const chunk = connection.read() as Buffer | null
      if (chunk === null) return
      head = Buffer.concat([head, chunk])
      const end = head.indexOf(NEWLINE)
      if (end === -1 && head.length <= MAX_PURPOSE_BYTES) return
      const purpose = head.toString('latin1', 0, Math.max(0, end))
      connection.off('readable', onReadable)
      if (end > MAX_PURPOSE_BYTES || !isPurpose(purpose)) {
        // Dialled again after the usual delay, so that a peer that sends garbage cannot set the pace.
        connection.destroy()
        return
      }
      connection.off('close', onLost)
      this.#dial()
      const rest = head.subarray(end + 1)
      if (rest.length > 0) connection.unshift(rest)
      this.#handlers[purpose](connection)
    }
    connection.on('readable', onReadable)
  }
}

const isPurpose = (line: string): line is LinkPurpose => (linkPurposes as readonly string[]).includes(line)
