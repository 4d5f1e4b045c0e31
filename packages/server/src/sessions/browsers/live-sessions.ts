// The sessions of this server: those that start, those that run, and those whose instance is still being emptied after their end.
import type { LiveSession } from './live-session.ts'

export class LiveSessions {
  /** Whose instance is being made. */
  readonly starting = new Set<string>()
  readonly running = new Map<string, LiveSession>()
  /** Resolves when nothing of the session's instance is left. */
  readonly ending = new Map<string, Promise<void>>()

  get count(): number {
    return this.running.size
  }

  find(id: string): LiveSession | undefined {
    return this.running.get(id)
  }

  /** Whether something of it is here, also before it runs and after its end. */
  has(id: string): boolean {
    return this.starting.has(id) || this.running.has(id) || this.ending.has(id)
  }

  uptimeOf(id: string): number | undefined {
    return this.running.get(id)?.uptimeMs
  }
}
