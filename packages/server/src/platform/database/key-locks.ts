// Locks with a name, held for as long as some work takes, on all servers together. All locks of this server are in one
// connection, so that work which takes long takes no connection from others. They make two of the same wait for each
// other; they do not replace a constraint: when the connection is lost, so are its locks.
import { createHash } from 'node:crypto'
import { Client } from 'pg'
import type { Logger } from 'pino'
import { FairTurns } from '@berth/kit/fair-turns'
import { pause } from '@berth/kit/pause'
import { ClientSockets } from './client-sockets.ts'
import type { Connection } from './database.ts'

const MAX_WAITING = 100
const FIRST_LOOK_MS = 20
const MAX_LOOK_MS = 500
const CONNECT_TIMEOUT_MS = 5_000
const QUERY_TIMEOUT_MS = 15_000
/** PostgreSQL may end a transaction that is silent for long. */
const KEEP_ALIVE_MS = 5_000

export class KeyLocks {
  readonly #connection: Connection
  readonly #log: Logger
  /** PostgreSQL would give a lock to its own connection again, so the holders of this server wait here. */
  readonly #turns = new FairTurns({
    atOnce: Number.POSITIVE_INFINITY,
    atOncePerKey: 1,
    maxWaitingPerKey: MAX_WAITING,
  })
  #shared: SharedTransaction | undefined

  constructor({ connection, log }: { connection: Connection; log: Logger }) {
    this.#connection = connection
    this.#log = log
  }

  /** Rejects with the signal's reason, or with TooManyWaiting. Dispose of the result to leave. */
  async enter(name: string, signal: AbortSignal): Promise<Disposable> {
    using entering = new DisposableStack()
    entering.use(await this.#turns.enter(name, signal))
    const id = lockId(name)
    const shared = (this.#shared = this.#shared?.isOpen ? this.#shared : this.#open())
    entering.use(shared.join())
    let lookMs = FIRST_LOOK_MS
    while (!(await shared.tryLock(id))) {
      await pause(lookMs, signal)
      signal.throwIfAborted()
      lookMs = Math.min(MAX_LOOK_MS, lookMs * 2)
    }
    // Sent before whoever waits here asks for the lock.
    entering.defer(() => shared.unlock(id))
    signal.throwIfAborted()
    return entering.move()
  }

  async close(): Promise<void> {
    await this.#shared?.close()
  }

  #open(): SharedTransaction {
    return new SharedTransaction(this.#connection, this.#log)
  }
}

/** A transaction while somebody is in it: a pooler then leaves the connection as it is. */
class SharedTransaction {
  readonly #client: Client
  readonly #sockets = new ClientSockets()
  readonly #connected: Promise<unknown>
  #inside = 0
  #alive: NodeJS.Timeout | undefined
  isOpen = true

  constructor(connection: Connection, log: Logger) {
    this.#client = new Client({
      ...connection,
      stream: this.#sockets.stream,
      application_name: 'berth-locks',
      // Statements are sent without waiting for the one before.
      pipeline: true,
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: QUERY_TIMEOUT_MS,
    })
    this.#client.on('error', (error) => {
      this.isOpen = false
      log.warn({ err: error }, 'the connection of locks is lost')
    })
    this.#client.once('end', () => (this.isOpen = false))
    this.#connected = this.#client.connect()
    this.#connected.catch(() => (this.isOpen = false))
  }

  join(): Disposable {
    if (this.#inside++ === 0) {
      this.#send('BEGIN')
      this.#alive = setInterval(() => this.#send('SELECT 1'), KEEP_ALIVE_MS).unref()
    }
    return {
      [Symbol.dispose]: () => {
        if (--this.#inside > 0) return
        clearInterval(this.#alive)
        this.#send('COMMIT')
      },
    }
  }

  async tryLock(id: bigint): Promise<boolean> {
    try {
      await this.#connected
      const { rows } = await this.#client.query<{ isMine: boolean }>(
        'SELECT pg_try_advisory_lock($1::bigint) AS "isMine"',
        [String(id)],
      )
      return rows[0]!.isMine
    } catch (error) {
      // Nobody knows which locks it has now.
      void this.close()
      throw error
    }
  }

  unlock(id: bigint): void {
    this.#send('SELECT pg_advisory_unlock($1::bigint)', [String(id)])
  }

  async close(): Promise<void> {
    this.isOpen = false
    clearInterval(this.#alive)
    const end = () => this.#connected.then(() => this.#client.end()).catch(() => {})
    await this.#sockets.endOrCut(end)
  }

  /** Statements are sent in order. A lost connection has no locks and no transaction any more. */
  #send(text: string, values: string[] = []): void {
    this.#connected.then(() => this.#client.query(text, values)).catch(() => this.close())
  }
}

function lockId(name: string): bigint {
  return createHash('sha256').update(name).digest().readBigInt64BE()
}
