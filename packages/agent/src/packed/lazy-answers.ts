// Requests below these paths are seldom made: what answers them is packed, and unpacked with the first.
import type { Chromium } from '../chromium/chromium.ts'
import { log } from '../log/log.ts'
import type { AnswerRequest } from '../requests/answer.ts'
import { unpack } from './packed.ts'
import type { Secrets } from '../secrets/secrets.ts'
import type { Settings } from '../instance/settings.ts'
import type { SoundOutput } from '../sound/sound-output.ts'

/** About an app, see contracts/app-link.ts. */
export const answerApps = (settings: Settings) =>
  lazily(async () => (await unpack('apps')).appHandlers(settings))

/** About logins, see contracts/page-snapshot.ts. */
export const answerLogin = (chromium: Chromium, secrets: Secrets, viewers: () => number) =>
  lazily(async () => (await unpack('login')).loginHandlers(chromium, secrets, viewers))

/** For small pictures, see contracts/link.ts. */
export const answerPreview = (chromium: Chromium, secrets: Secrets) =>
  lazily(async () => (await unpack('recording')).previewHandlers(chromium, secrets))

/** About recordings, see contracts/recording.ts. */
export const answerRecording = (chromium: Chromium, sound: SoundOutput) =>
  lazily(async () => (await unpack('recording')).recordingHandlers(chromium, sound))

/** About the user-data directory, see contracts/profile-archive.ts. */
export const answerUserData = (chromium: Chromium, directory: string) =>
  lazily(async () => (await unpack('userData')).userDataHandlers(chromium, directory))

function lazily(load: () => Promise<AnswerRequest>): AnswerRequest {
  let loaded: Promise<AnswerRequest> | undefined
  return async (request, response) => {
    try {
      const answer = await (loaded ??= load())
      await answer(request, response)
    } catch (error) {
      log(`Cannot ${request.method} ${request.url?.split('?', 1)[0]}`, error)
      if (response.headersSent) return void response.destroy()
      response.writeHead(500).end(JSON.stringify({ message: (error as Error).message }))
    }
  }
}
