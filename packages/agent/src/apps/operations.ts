// Requests about an app, see contracts/app-link.ts. The code is loaded on first use, because most instances have no app.
import type { AnswerControl } from '../control/router.ts'
import { unpack } from '../packed.ts'
import type { Settings } from '../settings.ts'

export function answerApps(settings: Settings): AnswerControl {
  let loaded: Promise<AnswerControl> | undefined
  const load = async () => (await unpack('apps')).appHandlers(settings)
  return async (request, response) => {
    try {
      await (
        await (loaded ??= load())
      )(request, response)
    } catch (error) {
      if (!response.headersSent)
        response.writeHead(500).end(JSON.stringify({ message: (error as Error).message }))
      else response.destroy()
    }
  }
}
