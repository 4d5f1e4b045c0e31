// Runs LISTEN on its own connection, so that replicas receive each other's changes. While the
// connection is down, changes are missed and `isListening` is false: caches must not be trusted.
import { Client } from 'pg'
import type { Logger } from 'pino'
import { pause } from '@berth/kit/pause'
import { decodeChange, type Change } from './change-events.ts'
import { ClientSockets } from './client-sockets.ts'
import type { Connection } from './database.ts'

const CHANNEL = 'berth_changes'
const RECONNECT_MS = 500

export class ChangeListener {
  readonly #connection: Connection
  readonly #log: Logger
  readonly #onChange: (change: Change) => void
  readonly #closing = new AbortController()
  readonly #sockets = new ClientSockets()
  #client: Client | undefined
  #loop: Promise<void> | undefined
  #beginnings = 0

  constructor(options: { connection: Connection; log: Logger; onChange: (change: Change) => void }) {
    this.#connection = options.connection
    this.#log = options.log
    this.#onChange = options.onChange
  }

  get isListening(): boolean {
    return this.#client !== undefined
  }

  /** How often it has begun to listen. When this grows, changes may have been missed before. */
  get beginnings(): number {
    return this.#beginnings
  }

  /** Resolves when the first attempt to listen succeeded or failed. */
  async start(): Promise<void> {
    const first = Promise.withResolvers<void>()
    this.#loop = this.#run(first.resolve)
    await first.promise
  }

  async #run(onFirstAttempt: () => void): Promise<void> {
    while (!this.#closing.signal.aborted) {
      const client = new Client({
        ...this.#connection,
        stream: this.#sockets.stream,
        application_name: 'berth-listener',
        keepAlive: true,
      })
      const ended = new Promise<void>((resolve) => {
        client.once('end', resolve)
        client.on('error', (error) => this.#log.warn({ err: error }, 'change listener lost its connection'))
      })
      try {
        await client.connect()
        client.on('notification', ({ payload }) => this.#onChange(decodeChange(payload ?? '')))
        await client.query(`LISTEN ${CHANNEL}`)
        this.#client = client
        this.#beginnings++
        onFirstAttempt()
        if (this.#closing.signal.aborted) await client.end()
        await ended
      } catch (error) {
        this.#log.warn({ err: error }, 'change listener cannot connect')
        await client.end().catch(() => {})
      }
      this.#client = undefined
      onFirstAttempt()
      await pause(RECONNECT_MS, this.#closing.signal)
    }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#sockets.endOrCut(async () => {
      await this.#client?.end()
      await this.#loop
    })
  }
}

export { CHANNEL as changeChannel }
