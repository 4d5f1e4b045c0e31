// The watches of an instance. A watch ends when it is stopped, or with the instance. Without a reader it
// keeps running and stores events up to a limit.
import { stat } from 'node:fs/promises'
import { ControlError } from '../../calls/operation.ts'
import { cleanPath } from '../disk/paths.ts'
import { refusalOf, refuse } from '../disk/refusal.ts'
import { Allowance } from './allowance.ts'
import { EventLog } from './event-log.ts'
import type { FileEvent } from './file-event.ts'
import { TooMuch, Tracker } from './tracker.ts'

export interface WatchStart {
  readonly path: string
  readonly recursive?: boolean
}

interface Watch {
  readonly tracker: Tracker
  readonly log: EventLog
}

export class Watches {
  readonly #allowance = new Allowance()
  readonly #watches = new Map<string, Watch>()

  async start({ path: text, recursive = false }: WatchStart): Promise<string> {
    const path = cleanPath(text)
    const stats = await stat(path).catch(refuse(path))
    if (!stats.isDirectory()) {
      throw new ControlError('bad_request', `Cannot watch "${path}": it is not a directory`)
    }
    if (!this.#allowance.take('watches')) {
      throw tooMany(`there are ${Allowance.most('watches')} watches already; stop one first`)
    }
    try {
      const log = new EventLog(path)
      const tracker = this.#track({ path, recursive, log })
      const id = crypto.randomUUID()
      this.#watches.set(id, { tracker, log })
      return id
    } catch (error) {
      this.#allowance.give('watches')
      throw watchRefusal(path, error)
    }
  }

  /** Reads from the earliest stored event until the watch is stopped or the signal fires. */
  read(id: string, signal: AbortSignal): AsyncIterable<FileEvent> {
    const { log } = this.#get(id)
    if (!this.#allowance.take('readers')) {
      throw tooMany(`there are ${Allowance.most('readers')} readers already`)
    }
    signal.addEventListener('abort', () => this.#allowance.give('readers'), { once: true })
    return log.read(signal)
  }

  stop(id: string): void {
    const { tracker, log } = this.#get(id)
    this.#watches.delete(id)
    this.#allowance.give('watches')
    tracker.close()
    log.end()
  }

  #get(id: string): Watch {
    const watch = this.#watches.get(id)
    if (!watch) throw new ControlError('not_found', `Cannot find a watch "${id}"`)
    return watch
  }

  #track({ path, recursive, log }: { path: string; recursive: boolean; log: EventLog }): Tracker {
    return new Tracker({
      path,
      recursive,
      allowance: this.#allowance,
      onTooMuchNews: () => {
        for (const { tracker } of this.#watches.values()) tracker.overflow()
      },
      onEvents: (events) => log.add(events),
      onEnd: () => log.end(),
    })
  }
}

function watchRefusal(path: string, error: unknown): unknown {
  if (error instanceof TooMuch) {
    const most = Allowance.most(error.message as 'directories' | 'entries')
    return tooMany(`"${path}" has too much to watch (at most ${most} ${error.message} for all watches)`)
  }
  // ENOSPC from a watch does not mean that the disk is full.
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOSPC' || code === 'EMFILE')
    return tooMany('the system has no more watches for this instance')
  return refusalOf(path, error)
}

function tooMany(reason: string): ControlError {
  return new ControlError('too_many_requests', `Cannot watch this: ${reason}`)
}
