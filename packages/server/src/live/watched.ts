import type { ResizeObstacle } from '../browsers/resize-obstacles.ts'
import { awake } from '../browsers/session.ts'

/** Asks the instance, which knows of viewers through all servers. */
export const liveViewIsOpen: ResizeObstacle = async (session) => {
  const { viewers = 0 } = await awake(session, (agent) => agent.state({ signal: session.ending }))
  return viewers > 0 ? 'a live view is open' : undefined
}
