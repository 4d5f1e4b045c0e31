import type { ResizeGuard } from '../browsers/resize.ts'
import { awake } from '../session/session.ts'
import { readState } from '../../instances/agent/state.ts'

/** Asks the instance, which knows the viewers on all servers. */
export const openLiveViews: ResizeGuard = {
  async obstacle(session) {
    const { viewers = 0 } = await awake(session, (agent) => readState(agent, { signal: session.ending }))
    return viewers > 0 ? 'a live view is open' : undefined
  },
}
