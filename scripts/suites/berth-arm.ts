// A session for each browser, of a server that runs only for this.
import { createSession } from '../../tests/fixtures/sessions.ts'
import { startServer } from '../../tests/fixtures/server.ts'
import type { Cleanup } from '../bench/cleanup.ts'
import type { Arm } from './arm.ts'
import { passOn } from './pass-on.ts'

/** The viewport of a session that does not choose one. */
export const SIZE = { width: 1920, height: 1080 }

/** Longer than any test needs, because a client of BiDi may say nothing for a while. */
const TIMEOUT_SECONDS = 600

export async function berthArm(cleanup: Cleanup): Promise<Arm> {
  const server = await startServer(cleanup, {
    hasRealInstances: true,
    hasOwnPostgres: true,
    env: {
      // The tests serve their pages on this machine.
      BERTH_EGRESS_ALLOW: '127.0.0.0/8,::1/128',
      // Most tests of BiDi want a new browser.
      BERTH_WARM_HEADLESS: '1',
    },
  })
  return {
    name: 'berth',
    async open() {
      const session = await createSession(server, { timeout_seconds: TIMEOUT_SECONDS })
      return {
        cdpUrl: session.cdp_ws_url,
        serveBidi: (client) => passOn(client, session.webdriver_ws_url),
        close: async () => {
          await server.fetch(`/browsers/${session.session_id}`, { method: 'DELETE' })
        },
      }
    },
  }
}
