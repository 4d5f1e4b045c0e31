// Links a browser session to the invocation that created it, so that both end together.
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
    if (!record)
      throw invalidInput('invocation_id', `names "${id}", which is not an invocation of the project`)
    if (record.finished_at) throw invalidInput('invocation_id', 'names an invocation that has ended')
    return {
      needsStart: false,
      bring: () => Promise.resolve(),
      keep: async (tx, browser) => {
        // Under the lock, so that an end that happens now also ends this session.
        if (!(await store.holdLive(tx, projectId, id))) {
          throw invalidInput('invocation_id', 'names an invocation that has ended')
        }
        await store.tieBrowser(tx, browser.id, id)
      },
    }
  }
}
