// Who watches or records a screen is in the middle of something that another size would spoil.
import { AppError } from '../../platform/errors/app-error.ts'
import type { Session } from '../session/session.ts'
import type { BrowserRecord } from './types.ts'

/** What depends on the size of a session's screen while it lasts. */
export interface ResizeGuard {
  /** Says what stands in the way of another size, in words for people; undefined: nothing. */
  obstacle(session: Session): Promise<string | undefined>
  /** Ends what cannot go on with another size, and resolves with what is to be done when it has changed. */
  makeWay?(browser: BrowserRecord): Promise<() => Promise<void>>
}

export interface Resizing {
  readonly session: Session
  readonly browser: BrowserRecord
  readonly force: boolean
  readonly resize: () => Promise<void>
}

/** Without force it is refused when something stands in the way; with it, everything makes way. */
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
    // Also when it failed: what made way goes on, with the size that there is.
    for (const goOn of after) await goOn()
  }
}

async function checkFree(guards: readonly ResizeGuard[], session: Session): Promise<void> {
  const found = await Promise.all(guards.map((guard) => guard.obstacle(session)))
  const reasons = found.filter((reason) => reason !== undefined)
  if (reasons.length === 0) return
  const why = reasons.join(' and ')
  throw new AppError('conflict', `Cannot resize: ${why}; end it first, or set viewport.force`)
}
