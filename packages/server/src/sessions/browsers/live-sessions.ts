// The sessions of this server: those that run, and those whose instance is still being emptied after their end.
import type { LiveSession } from './live-session.ts'

export class LiveSessions {
  readonly running = new Map<string, LiveSession>()
  /** Resolves when nothing of the session's instance is left. */
  readonly ending = new Map<string, Promise<void>>()

  get count(): number {
    return this.running.size
  }

  find(id: string): LiveSession | undefined {
    return this.running.get(id)
  }

  /** Whether something of it is here, also after its end. */
  has(id: string): boolean {
    return this.running.has(id) || this.ending.has(id)
  }

  uptimeOf(id: string): number | undefined {
    return this.running.get(id)?.uptimeMs
  }
}
