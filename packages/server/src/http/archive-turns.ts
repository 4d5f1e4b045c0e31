// Turns at decoding archives: decoders take memory and processor time that all projects share.
import { FairTurns, TooManyWaiting } from '@berth/kit/fair-turns'
import { AppError } from '../platform/errors/app-error.ts'

const MAX_WAITING_PER_PROJECT = 16
const MAX_WAIT_MS = 60_000
const RETRY_AFTER_SECONDS = '5'

export interface ArchiveTurnsOptions {
  readonly atOnce: number
  readonly atOncePerProject: number
}

export class ArchiveTurns {
  readonly #turns: FairTurns

  constructor({ atOnce, atOncePerProject }: ArchiveTurnsOptions) {
    this.#turns = new FairTurns({
      atOnce,
      atOncePerKey: atOncePerProject,
      maxWaitingPerKey: MAX_WAITING_PER_PROJECT,
    })
  }

  /** Rejects with 429 when the project has too many that wait, or waits too long. */
  async enter(
    projectId: string,
    { action, signal }: { action: string; signal: AbortSignal },
  ): Promise<Disposable> {
    const late = AbortSignal.timeout(MAX_WAIT_MS)
    try {
      return await this.#turns.enter(projectId, AbortSignal.any([signal, late]))
    } catch (error) {
      signal.throwIfAborted()
      if (!late.aborted && !(error instanceof TooManyWaiting)) throw error
      throw new AppError(
        'too_many_requests',
        `Cannot ${action}: too many archives of the project are being read; send fewer at once`,
        { headers: { 'retry-after': RETRY_AFTER_SECONDS }, cause: error },
      )
    }
  }
}
