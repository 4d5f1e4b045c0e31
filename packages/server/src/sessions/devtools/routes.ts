import * as contract from '@berth/contracts/devtools'
import { route, type Call, type Route } from '../../http/call.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { SessionTokens } from '../gateway/tokens.ts'
import { audiencesOf, DEVTOOLS_PATH } from '../session/target.ts'
import type { Session } from '../session/session.ts'
import { readPages } from './pages.ts'

export interface DevtoolsRoutesOptions {
  readonly tokens: Pick<SessionTokens, 'sign'>
  /** Throws `not_found` for a session that the caller may not see or that has ended. */
  readonly find: (call: Call<unknown>, id: string) => Promise<Session>
}

export function devtoolsRoutes({ tokens, find }: DevtoolsRoutesOptions): Route[] {
  return [
    route(contract.listBrowserPages, async (call) =>
      readPages(await find(call, call.params.id), call.signal),
    ),
    route(contract.createDevtoolsLink, async (call) => {
      const { page_id: wanted, expires_in_seconds: lifeSeconds = 3600 } = call.body
      const session = await find(call, call.params.id)
      const pages = await readPages(session, call.signal)
      const page = wanted === undefined ? pages[0] : pages.find(({ id }) => id === wanted)
      if (!page) throw noPage(wanted)
      return call.commit(async () => {
        const { id: sessionId, leaseNumber } = session
        // Whole seconds, like the token.
        const expiresAt = (Math.floor(Date.now() / 1000) + lifeSeconds) * 1000
        const token = tokens.sign({ sessionId, leaseNumber, audience: audiencesOf.devtools, lifeSeconds })
        const urlOf = (id: string) => `${call.origin}${DEVTOOLS_PATH}/${token}/page/${id}`
        return {
          url: urlOf(page.id),
          expires_at: new Date(expiresAt).toISOString(),
          pages: pages.map((each) => ({ ...each, devtools_url: urlOf(each.id) })),
        }
      })
    }),
  ]
}

const noPage = (wanted: string | undefined) =>
  wanted === undefined
    ? new AppError(
        'not_found',
        'Cannot open DevTools: the browser of the session has no page; open one first',
      )
    : new AppError(
        'not_found',
        `Cannot find page "${wanted}" in the session: take page_id from GET /browsers/{id}/pages`,
      )
