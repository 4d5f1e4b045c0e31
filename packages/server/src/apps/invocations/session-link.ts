// Ties a browser session to the invocation that made it, so that the session ends with it.
import { invalidInput } from '../../platform/errors/app-error.ts'
import type { ExtraSource, LookUp, SessionExtra } from '../../sessions/browsers/extras.ts'
import * as store from './store.ts'

export class InvocationSessions implements ExtraSource {
  async extraFor(
    body: { invocation_id?: string },
    { projectId }: { projectId: string },
    { db }: Pick<LookUp, 'db'>,
  ): Promise<SessionExtra | undefined> {
    const { invocation_id: id } = body
    if (id === undefined) return undefined
    const record = await store.findInvocation(db, projectId, id)
    if (!record) throw invalidInput('invocation_id', `names "${id}", which is no invocation of the project`)
    if (record.finished_at) throw invalidInput('invocation_id', 'is of an invocation that is over')
    return {
      needsStart: false,
      bring: () => Promise.resolve(),
      keep: async (tx, browser) => {
        // Under its lock: an end that comes now finds this session, and ends it, too.
        if (!(await store.holdLive(tx, projectId, id))) {
          throw invalidInput('invocation_id', 'is of an invocation that is over')
        }
        await store.tieBrowser(tx, browser.id, id)
      },
    }
  }
}
