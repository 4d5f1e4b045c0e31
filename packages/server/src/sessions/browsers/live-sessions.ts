// The sessions of this server that are starting, running, or being cleaned up after their end.
import type { LiveSession } from './live-session.ts'
import { Wakes } from './wakes.ts'

export class LiveSessions {
  /** Sessions whose instance is starting. */
  readonly starting = new Set<string>()
  readonly running = new Map<string, LiveSession>()
  /** Resolves when nothing of the session's instance is left. */
  readonly ending = new Map<string, Promise<void>>()
  readonly wakes = new Wakes()

  get count(): number {
    return this.running.size
  }

  find(id: string): LiveSession | undefined {
    return this.running.get(id)
  }

  /** Whether this server starts, runs or cleans up the session. */
  has(id: string): boolean {
    return this.starting.has(id) || this.running.has(id) || this.ending.has(id)
  }

  uptimeOf(id: string): number | undefined {
    return this.running.get(id)?.uptimeMs
  }
}
