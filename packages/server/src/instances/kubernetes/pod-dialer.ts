// Connections to one Pod. Both sides prove that they have the key of the instance before a byte of ours is sent.
import { connect, createSecureContext, type TLSSocket } from 'node:tls'
import { POD_LINK_PORT, pskTls } from '../pod/protocol.ts'

const DIAL_MS = 10_000
const KEEP_ALIVE_MS = 10_000

/** One for all: with one of its own, a connection takes 16 KB more. A Pod has no certificate, so no authority is trusted. */
const secureContext = createSecureContext({ ...pskTls, ca: [] })

export interface PodAddress {
  readonly host: string
  readonly port?: number
}

export interface PodDialerOptions {
  /** Of the instance. */
  readonly id: string
  readonly key: Buffer
  readonly address: PodAddress
}

export class PodDialer {
  readonly #options: PodDialerOptions

  constructor(options: PodDialerOptions) {
    this.#options = options
  }

  /** The first line says what the connection is for; the caller may write it later. */
  dial(signal: AbortSignal, firstLine?: string): Promise<TLSSocket> {
    const { id, key, address } = this.#options
    signal.throwIfAborted()
    return new Promise((resolve, reject) => {
      const socket = connect({
        host: address.host,
        port: address.port ?? POD_LINK_PORT,
        ...pskTls,
        secureContext,
        pskCallback: () => ({ psk: key, identity: id }),
        // Whoever shows a certificate instead of the key is somebody else.
        checkServerIdentity: () => new Error('it showed a certificate instead of the key'),
      })
      socket.setNoDelay(true)
      socket.setKeepAlive(true, KEEP_ALIVE_MS)
      const late = setTimeout(() => finish(new Error(`no connection within ${DIAL_MS / 1000} s`)), DIAL_MS)
      const onAbort = () => finish(signal.reason as Error)
      const finish = (error?: Error) => {
        clearTimeout(late)
        signal.removeEventListener('abort', onAbort)
        if (!error) return resolve(socket)
        socket.destroy()
        const message = `Cannot reach instance "${id}" at ${address.host}: ${error.message}`
        reject(signal.aborted ? error : new Error(message, { cause: error }))
      }
      signal.addEventListener('abort', onAbort, { once: true })
      // Stays: a failing connection also closes, and its user notices that.
      socket.on('error', finish)
      socket.once('secureConnect', () => {
        if (firstLine !== undefined) socket.write(`${firstLine}\n`)
        finish()
      })
    })
  }
}
