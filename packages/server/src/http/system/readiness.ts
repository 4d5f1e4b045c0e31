import { sql } from 'kysely'
import { unlessAborted } from '@berth/kit/abort'
import type { Db } from '../../platform/database/schema.ts'
import { AppError } from '../../platform/errors/app-error.ts'

/** Whether the server accepts work: it has started, is not draining, and its database answers. */
export class Readiness {
  readonly #db: Db
  #isDraining = false

  constructor(db: Db) {
    this.#db = db
  }

  get isDraining(): boolean {
    return this.#isDraining
  }

  drain(): void {
    this.#isDraining = true
  }

  async check(): Promise<{ status: 'ready' }> {
    if (this.#isDraining) throw new AppError('unavailable', 'The server is draining')
    await sql`SELECT 1`.execute(this.#db)
    return { status: 'ready' }
  }

  /** False when the database fails, and when it has not answered before the signal aborts. */
  async isDatabaseUp(signal: AbortSignal): Promise<boolean> {
    try {
      await unlessAborted(sql`SELECT 1`.execute(this.#db), signal)
      return true
    } catch {
      return false
    }
  }
}
