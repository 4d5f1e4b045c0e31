// A resize would disturb people who watch the screen and recordings of it.
import { AppError } from '../../platform/errors/app-error.ts'
import type { Session } from '../session/session.ts'
import type { BrowserRecord } from './types.ts'

/** A user of the screen that depends on its size. */
export interface ResizeGuard {
  /** A readable reason against a resize; undefined when there is none. */
  obstacle(session: Session): Promise<string | undefined>
  /** Stops work that cannot continue at another size. Returns a function that restarts it after the resize. */
  makeWay?(browser: BrowserRecord): Promise<() => Promise<void>>
}

export interface Resizing {
  readonly session: Session
  readonly browser: BrowserRecord
  readonly force: boolean
  readonly resize: () => Promise<void>
}

/** Without force, any obstacle refuses the resize. With force, all guards make way. */
export async function resizeAmong(
  guards: readonly ResizeGuard[],
  { session, browser, force, resize }: Resizing,
): Promise<void> {
  if (!force) await checkFree(guards, session)
  const after: (() => Promise<void>)[] = []
  try {
    for (const guard of guards) if (guard.makeWay) after.push(await guard.makeWay(browser))
    await resize()
  } finally {
    // Stopped work restarts even after a failed resize, at the current size.
    for (const restart of after) await restart()
  }
}

async function checkFree(guards: readonly ResizeGuard[], session: Session): Promise<void> {
  const found = await Promise.all(guards.map((guard) => guard.obstacle(session)))
  const reasons = found.filter((reason) => reason !== undefined)
  if (reasons.length === 0) return
  const why = reasons.join(' and ')
  throw new AppError('conflict', `Cannot resize: ${why}; end it first, or set viewport.force`)
}
