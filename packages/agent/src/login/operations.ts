// Requests about logins, see contracts/page-snapshot.ts. The code loads with the first request, because most instances never log in.
import type { Chromium } from '../chromium/chromium.ts'
import type { AnswerControl } from '../control/router.ts'
import { log } from '../log.ts'
import { unpack } from '../packed.ts'
import type { Secrets } from '../secrets.ts'

export function answerLogin(chromium: Chromium, secrets: Secrets): AnswerControl {
  let loaded: Promise<AnswerControl> | undefined
  const load = async () => (await unpack('login')).loginHandlers(chromium, secrets)
  return async (request, response) => {
    try {
      await (
        await (loaded ??= load())
      )(request, response)
    } catch (error) {
      log(`Cannot ${request.method} ${request.url}`, error)
      if (response.headersSent) return void response.destroy()
      response.writeHead(500).end(JSON.stringify({ message: (error as Error).message }))
    }
  }
}
