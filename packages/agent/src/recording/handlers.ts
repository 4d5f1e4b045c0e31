// Handles requests about recordings.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { MAX_RECORDINGS, type RecordingStart } from '@berth/contracts/recording'
import { readJson } from '../requests/body.ts'
import { checked } from '../checks/check.ts'
import type { Chromium } from '../chromium/chromium.ts'
import { log } from '../log/log.ts'
import type { AnswerRequest } from '../requests/answer.ts'
import { BadRequest } from '../requests/bad-request.ts'
import { ENCODER } from './pictures/encoder.ts'
import { checks } from './recording.checks.ts'
import { Recording } from './recording.ts'
import { Screens } from './screen/screens.ts'
import type { SoundOutput } from '../sound/sound-output.ts'
import { pathExists } from '../user/path-exists.ts'

/** Includes ended recordings that are not fetched yet. */
const MAX_KEPT = 2 * MAX_RECORDINGS

export function recordingHandlers(chromium: Chromium, sound: SoundOutput): AnswerRequest {
  const recordings = new Map<string, Recording>()
  const screens = Screens.of(chromium.display)

  async function start(options: RecordingStart): Promise<Answer> {
    // The answer to an earlier request may have been lost.
    if (recordings.has(options.id)) return { status: 204 }
    const running = [...recordings.values()].filter(({ isOver }) => !isOver).length
    if (running >= MAX_RECORDINGS || recordings.size >= MAX_KEPT) {
      return refusal(409, `${MAX_RECORDINGS} recordings of the session run at once already`)
    }
    if (!chromium.looks) return refusal(409, 'there is no browser yet')
    if (!pathExists(ENCODER))
      return refusal(409, 'this host has no encoder; its operator must install ffmpeg')
    if (options.hasSound && !sound.isThere)
      return refusal(409, 'this host has no sound server; its operator must install pulseaudio')
    const recording = new Recording({ ...options, chromium, screens, sound })
    recordings.set(options.id, recording)
    try {
      await recording.start()
      return { status: 204 }
    } catch (error) {
      recordings.delete(options.id)
      log('Cannot record', error)
      return refusal(500, (error as Error).message)
    }
  }

  async function begin(request: IncomingMessage): Promise<Answer> {
    let options: RecordingStart
    try {
      options = checked(checks.recordingStart, await readJson(request))
    } catch (error) {
      if (error instanceof BadRequest) return refusal(error.status, error.message)
      throw error
    }
    return start(options)
  }

  async function act(request: IncomingMessage, response: ServerResponse): Promise<Answer> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://agent')
    const [, , id, action] = pathname.split('/')
    if (id === undefined) return request.method === 'POST' ? begin(request) : NOT_FOUND
    const recording = recordings.get(id)
    if (!recording) return NOT_FOUND
    switch (`${request.method} ${action ?? ''}`) {
      case 'GET ': {
        const gone = new AbortController()
        response.once('close', () => gone.abort())
        return {
          status: 200,
          body: await recording.records(Number(searchParams.get('after') ?? 0), gone.signal),
        }
      }
      case 'POST stop':
        await recording.stop('stopped')
        return { status: 204 }
      case 'DELETE ':
        await recording.stop('stopped')
        recordings.delete(id)
        return { status: 204 }
      default:
        return NOT_FOUND
    }
  }

  return async (request, response) => {
    const { status, body } = await act(request, response)
    if (response.destroyed) return
    const length = body?.reduce((sum, { length: bytes }) => sum + bytes, 0) ?? 0
    response.writeHead(status, status === 204 ? {} : { 'content-length': length })
    response.cork()
    for (const piece of body ?? []) response.write(piece)
    response.end()
  }
}

interface Answer {
  readonly status: number
  readonly body?: readonly Buffer[]
}

const refusal = (status: number, message: string): Answer => ({
  status,
  body: [Buffer.from(JSON.stringify({ message }))],
})
const NOT_FOUND = refusal(404, 'there is no such recording')
