// Builds the content of a page snapshot from the contents of all frames.
import {
  MAX_TEXT_LENGTH,
  MAX_ELEMENTS,
  MAX_FRAMES,
  type ElementSnapshot,
  type FrameSnapshot,
  type PageSnapshot,
} from '@berth/contracts/page-snapshot'
import { MAX_URL_LENGTH, SHORT } from './bounds.ts'
import { originOf } from './origin.ts'
import { Frames, type KnownFrame, type Place } from './frames.ts'
import type { Collected } from './page-types.ts'
import type { Tab } from './tab.ts'
import type { World } from './world.ts'

/** A document that takes longer is stopped and reported as empty. */
const COLLECT_MS = 5_000
/** Closed shadow trees can be nested. */
const MAX_ROUNDS = 3
/** Limit for all frames, and for all elements, as JSON. */
const MAX_CHARACTERS = 2_000_000
const MAX_COORDINATE = 1_000_000

interface FrameContent {
  readonly frame: KnownFrame
  readonly place: Place
  readonly origin: string
  readonly collected: Collected | undefined
}

export interface PageContent {
  readonly frames: FrameSnapshot[]
  readonly elements: ElementSnapshot[]
  readonly storage: PageSnapshot['storage']
}

export async function readContent(tab: Tab): Promise<PageContent> {
  if (tab.isCrashed || tab.document.failure !== null) return emptyContent(tab.document.url)
  const frames = await Frames.of(tab)
  const places = await Promise.all(
    frames.all.map(async (frame) => ({ frame, place: await frames.placeOf(frame).catch(() => NOWHERE) })),
  )
  const shown = choose(places)
  const [looked, storage] = await Promise.all([
    Promise.all(
      shown.map(async ({ frame, place }) => ({
        frame,
        place,
        origin: await originOf(tab, frame),
        collected: await collectIn(tab, frame).catch(() => undefined),
      })),
    ),
    storageOf(tab, frames.main),
  ])
  return { ...joined(looked), storage }
}

const NOWHERE: Place = { x: 0, y: 0, width: 0, height: 0, isVisible: false }

const weight = ({ place }: { place: Place }) => (place.isVisible ? place.width * place.height : -1)

/** The main frame and the largest visible frames. */
function choose(places: readonly { frame: KnownFrame; place: Place }[]) {
  if (places.length <= MAX_FRAMES) return places
  const chosen = new Set(places.toSorted((one, other) => weight(other) - weight(one)).slice(0, MAX_FRAMES))
  return places.filter((each) => chosen.has(each))
}

async function collectIn(tab: Tab, frame: KnownFrame): Promise<Collected> {
  const world = await tab.worldOf(frame, frame.sessionId)
  await adoptClosedRoots(tab, world).catch(() => {})
  const text = await world.call<string>('look', [], { ms: COLLECT_MS })
  return JSON.parse(text) as Collected
}

/** Scripts cannot open closed shadow trees, but they can use one that the debugger passes to them. */
async function adoptClosedRoots({ cdp }: Tab, world: World): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const hosts = await world.handlesOf('unexaminedHosts')
    if (hosts.length === 0) return
    await Promise.all(
      hosts.map(async (objectId) => {
        const { node } = await cdp.call<{
          node: { shadowRoots?: { shadowRootType: string; backendNodeId: number }[] }
        }>('DOM.describeNode', { objectId }, world.sessionId)
        const root = node.shadowRoots?.find(({ shadowRootType }) => shadowRootType === 'closed')
        if (root) await world.callWith(root.backendNodeId, 'adopt')
        cdp.dispatch('Runtime.releaseObject', { objectId }, world.sessionId)
      }),
    )
  }
}

async function storageOf(tab: Tab, main: KnownFrame): Promise<PageSnapshot['storage']> {
  const cookies = tab.cdp
    .call<{ cookies: unknown[] }>('Network.getCookies', { urls: [main.url] }, tab.sessionId)
    .then((answer) => answer.cookies.length)
    .catch(() => 0)
  const others = tab
    .worldOf(main, main.sessionId)
    .then((world) => world.call<{ local: number; indexed: number }>('storage', [], { awaits: true }))
    .catch(() => ({ local: 0, indexed: 0 }))
  return { cookies: await cookies, ...(await others) }
}

function joined(looked: readonly FrameContent[]): Omit<PageContent, 'storage'> {
  const fitted = withinBounds(looked)
  const indexes = new Map(fitted.map(({ frame }, index) => [frame.id, index]))
  const frames = fitted.map(({ frame, place, origin, collected }, index): FrameSnapshot => {
    const parent = frame.parentId === undefined ? undefined : indexes.get(frame.parentId)
    return {
      ...(collected?.frame ?? EMPTY),
      url: (frame.url + (frame.urlFragment ?? '')).slice(0, MAX_URL_LENGTH),
      origin,
      // If the parent frame was left out, use the main frame.
      parent: index === 0 ? null : (parent ?? 0),
      is_visible: place.isVisible,
    }
  })
  const elements = fitted.flatMap(({ place, collected }, frame) =>
    (collected?.elements ?? []).map((element): ElementSnapshot => moved(element, frame, place)),
  )
  return { frames, elements: fitting(elements) }
}

/** Reports a frame that does not fit as empty, also without its elements, which refer to its groups. */
function withinBounds(looked: readonly FrameContent[]): readonly FrameContent[] {
  let left = MAX_CHARACTERS
  return looked.map((each) => {
    const { length } = JSON.stringify(each.collected?.frame ?? EMPTY)
    if (length > left) return { ...each, collected: undefined }
    left -= length
    return each
  })
}

const EMPTY: Collected['frame'] = {
  title: '',
  language: '',
  headings: [],
  text: '',
  groups: [],
  messages: [],
  challenges: [],
}

function moved(element: Collected['elements'][number], frame: number, place: Place): ElementSnapshot {
  const [x = 0, y = 0, width = 0, height = 0] = element.box
  const box = [x + place.x, y + place.y, width, height].map((each) =>
    Math.max(-MAX_COORDINATE, Math.min(MAX_COORDINATE, Math.round(each))),
  )
  return { ...element, frame, box, is_visible: element.is_visible && place.isVisible }
}

/** Keeps visible elements first if not all fit. */
function fitting(elements: readonly ElementSnapshot[]): ElementSnapshot[] {
  let left = MAX_CHARACTERS
  const order = [
    ...elements.filter(({ is_visible }) => is_visible),
    ...elements.filter(({ is_visible }) => !is_visible),
  ]
  const kept = new Set<ElementSnapshot>()
  for (const element of order.slice(0, MAX_ELEMENTS)) {
    left -= JSON.stringify(element).length + 1
    if (left < 0) break
    kept.add(element)
  }
  return elements.filter((element) => kept.has(element))
}

/** For a page that did not load, crashed, or does not respond. */
export function emptyContent(url: string): PageContent {
  const frame = { ...EMPTY, url, origin: 'null', parent: null, is_visible: true }
  return { frames: [frame], elements: [], storage: { cookies: 0, local: 0, indexed: 0 } }
}

/** Tells whether a page has changed. Ignores numbers, because many pages show a countdown. */
export function fingerprintOf({ frames, elements }: Pick<PageContent, 'frames' | 'elements'>): string {
  const texts = frames.map(({ text }) => text.slice(0, MAX_TEXT_LENGTH).replaceAll(/\d+/g, '#'))
  const controls = elements
    .filter(({ is_visible }) => is_visible)
    .map(({ tag, type, label, text, is_enabled }) =>
      [tag, type, label, text, is_enabled].join(' ').slice(0, SHORT),
    )
  return JSON.stringify([texts, controls.join().replaceAll(/\d+/g, '#')])
}
