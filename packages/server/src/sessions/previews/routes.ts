import { followPreviews, MAX_PREVIEWS, PREVIEW_WIDTH } from '@berth/contracts/previews'
import { KeyedLimit } from '@berth/kit/keyed-limit'
import { route, type Route } from '../../http/call.ts'
import { projectOf } from '../../http/principal.ts'
import { AppError, invalidInput } from '../../platform/errors/app-error.ts'
import { callerOf } from '../browsers/routes.ts'
import type { BrowserService, Caller } from '../browsers/service.ts'
import { Pictures } from './pictures.ts'
import { PreviewStream, type Found } from './stream.ts'

const MAX_STREAMS_PER_PROJECT = 50

export function previewRoutes(browsers: BrowserService): Route[] {
  const pictures = new Pictures()
  const streams = new KeyedLimit<string | null>(MAX_STREAMS_PER_PROJECT)
  return [
    route(followPreviews, (call) => {
      const caller = callerOf(call)
      const { ids, width = PREVIEW_WIDTH.default } = call.query
      const place = streams.enter(projectOf(caller))
      if (!place) {
        throw new AppError(
          'too_many_requests',
          `Cannot follow the previews: ${streams.max} streams of them are open already; close one`,
          { headers: { 'retry-after': '5' } },
        )
      }
      using acquired = new DisposableStack()
      acquired.use(place)
      const find = (id: string) => findSession(browsers, caller, id)
      const body = new PreviewStream({ ids: readIds(ids), width, pictures, find })
      const held = acquired.move()
      body.once('close', () => held.dispose())
      return { body }
    }),
  ]
}

function readIds(text: string): string[] {
  const ids = [...new Set(text.split(',').filter((id) => id !== ''))]
  if (ids.length === 0) throw invalidInput('ids', 'must name at least one session')
  if (ids.length > MAX_PREVIEWS) {
    throw invalidInput('ids', `must name at most ${MAX_PREVIEWS} sessions; open a second stream for more`)
  }
  return ids
}

async function findSession(browsers: BrowserService, caller: Caller, id: string): Promise<Found> {
  try {
    return await browsers.session(caller, id)
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  try {
    // It exists, and starts, or its server cannot be reached.
    await browsers.find(caller, id)
    return 'missing'
  } catch (error) {
    if (isNotFound(error)) return 'ended'
    throw error
  }
}

const isNotFound = (error: unknown) => error instanceof AppError && error.code === 'not_found'
