// A photo of the login's page with all its fields covered. If one of its documents cannot be covered, there is none.
import type { Photo, PhotoOrder } from '@berth/contracts/page-snapshot'
import { Frames } from './frames.ts'
import type { Tab } from './tab.ts'
import type { World } from './world.ts'

const PHOTO_MS = 3_000
const QUALITIES = [45, 15]
const MAX_LENGTH = 400_000
const NONE: Photo = { jpeg: null }

interface Metrics {
  readonly cssVisualViewport: { readonly pageX: number; readonly pageY: number }
}

export async function photoOf(tab: Tab, { box }: PhotoOrder): Promise<Photo> {
  if (tab.isCrashed || tab.document.failure !== null) return NONE
  const worlds: World[] = []
  const { number } = tab.document
  try {
    for (const frame of (await Frames.of(tab)).all) {
      const world = await tab.worldOf(frame, frame.sessionId)
      worlds.push(world)
      await world.call('cover')
    }
    for (const quality of QUALITIES) {
      const jpeg = await take(tab, box, quality)
      // A page that arrived in between is not covered.
      if (tab.document.number !== number) return NONE
      if (jpeg.length <= MAX_LENGTH) return { jpeg }
    }
    return NONE
  } catch {
    return NONE
  } finally {
    await Promise.allSettled(worlds.map((world) => world.call('uncover')))
  }
}

async function take({ cdp, sessionId }: Tab, box: PhotoOrder['box'], quality: number): Promise<string> {
  const ask = { format: 'jpeg', quality, optimizeForSpeed: true }
  const clip = box && { clip: await clipOf({ cdp, sessionId }, box) }
  const { data } = await cdp.call<{ data: string }>(
    'Page.captureScreenshot',
    { ...ask, ...clip },
    sessionId,
    PHOTO_MS,
  )
  return data
}

/** Chromium counts from the beginning of the page, snapshots from that of the window. */
async function clipOf({ cdp, sessionId }: Pick<Tab, 'cdp' | 'sessionId'>, box: readonly number[]) {
  const { cssVisualViewport: view } = await cdp.call<Metrics>(
    'Page.getLayoutMetrics',
    {},
    sessionId,
    PHOTO_MS,
  )
  const [x = 0, y = 0, width = 1, height = 1] = box
  return { x: view.pageX + x, y: view.pageY + y, width, height, scale: 1 }
}
