// Requests about recordings, see contracts/recording.ts. The code is loaded on first use.
import type { Chromium } from '../chromium/chromium.ts'
import type { AnswerControl } from '../control/router.ts'
import { unpack } from '../packed.ts'

export function answerRecording(chromium: Chromium): AnswerControl {
  let loaded: Promise<AnswerControl> | undefined
  const load = async () => (await unpack('recording')).recordingHandlers(chromium)
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
