// Requests about the user-data directory. All of it is loaded with the first.
import type { Chromium } from '../chromium/chromium.ts'
import type { AnswerControl } from '../control/router.ts'
import { log } from '../log.ts'
import { unpack } from '../packed.ts'

export function answerUserData(chromium: Chromium, directory: string): AnswerControl {
  let loaded: Promise<AnswerControl> | undefined
  const load = async () => (await unpack('userData')).userDataHandlers(chromium, directory)
  return async (request, response) => {
    try {
      await (
        await (loaded ??= load())
      )(request, response)
    } catch (error) {
      log(`Cannot ${request.method} ${request.url?.split('?', 1)[0]}`, error)
      if (response.headersSent) return void response.destroy()
      response.writeHead(500).end(JSON.stringify({ message: (error as Error).message }))
    }
  }
}
