// Answers requests for small pictures of what the session shows, see contracts/link.ts. What makes them is kept while
// somebody asks.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { PREVIEW_WIDTH } from '@berth/contracts/previews'
import type { Chromium } from '../chromium/chromium.ts'
import { Screens } from '../recording/screen/screens.ts'
import type { AnswerRequest } from '../requests/answer.ts'
import type { Secrets } from '../secrets/secrets.ts'
import type { Look, Watch } from './look.ts'
import { PageWatch } from './page-watch.ts'
import { ScreenWatch } from './screen-watch.ts'

const LOOK_TIMEOUT_MS = 1_800
/** Shorter than the idle time before standby, so that a session in standby holds no memory for this. */
const KEPT_MS = 3_000
/** Different widths at once. */
const MAX_WATCHES = 4

interface Kept {
  readonly watch: Watch
  timer: NodeJS.Timeout
  looking: Promise<Look> | undefined
}

export function previewHandlers(chromium: Chromium, secrets: Pick<Secrets, 'isInUse'>): AnswerRequest {
  /** The one that was asked longest ago is first. */
  const kept = new Map<string, Kept>()

  const drop = (key: string) => {
    const found = kept.get(key)
    kept.delete(key)
    clearTimeout(found?.timer)
    found?.watch[Symbol.dispose]()
  }

  function keep(width: number): Kept {
    const { headless } = chromium.looks!
    const key = `${headless}:${width}`
    const known = kept.get(key)
    clearTimeout(known?.timer)
    kept.delete(key)
    if (kept.size >= MAX_WATCHES) drop(kept.keys().next().value!)
    const timer = setTimeout(() => drop(key), KEPT_MS)
    const newWatch = () =>
      headless
        ? new PageWatch(chromium, width)
        : new ScreenWatch(Screens.of(chromium.display), { width, size: () => chromium.looks! })
    const found = known ?? { watch: newWatch(), timer, looking: undefined }
    found.timer = timer
    kept.set(key, found)
    return found
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { searchParams } = new URL(request.url ?? '/', 'http://agent')
    const width = Number(searchParams.get('width'))
    if (!Number.isInteger(width) || width < PREVIEW_WIDTH.min || width > PREVIEW_WIDTH.max) {
      return refuse(response, 400, 'Cannot take a small picture: width is not valid')
    }
    // A page may show them anywhere.
    if (secrets.isInUse) return refuse(response, 403, 'A login has used a secret here')
    if (!chromium.looks) return refuse(response, 409, 'There is no browser yet')
    const found = keep(width)
    try {
      found.looking ??= found.watch
        .look(AbortSignal.timeout(LOOK_TIMEOUT_MS))
        .finally(() => (found.looking = undefined))
      const { version, jpeg } = await found.looking
      if (request.headers['if-none-match'] === version) return void response.writeHead(204).end()
      response.writeHead(200, {
        'content-type': 'image/jpeg',
        'content-length': jpeg.length,
        etag: version,
      })
      response.end(jpeg)
    } catch (error) {
      refuse(response, 409, `There is nothing to see: ${(error as Error).message}`)
    }
  }
  return answer
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ message }))
}
