// Who watches or records a screen is in the middle of something that another size would spoil.
import { AppError } from '../errors.ts'
import type { Session } from './session.ts'

/** Says what stands in the way of another size, in words for people; undefined: nothing. */
export type ResizeObstacle = (session: Session) => Promise<string | undefined>

export async function checkFree(session: Session, obstacles: readonly ResizeObstacle[]): Promise<void> {
  const found = await Promise.all(obstacles.map((obstacle) => obstacle(session)))
  const reasons = found.filter((reason) => reason !== undefined)
  if (reasons.length === 0) return
  const why = reasons.join(' and ')
  throw new AppError('conflict', `Cannot resize: ${why}; end it first, or set viewport.force`)
}
