// The frames of a page across all processes, and their positions in the window.
import { PageGone } from './gone.ts'
import type { FrameBox } from './page-types.ts'
import type { Frame, Tab } from './tab.ts'

const ASK_MS = 3_000
/** Limit for frames to consider. The snapshot contains a selection of them. */
const MAX_KNOWN = 64

export interface KnownFrame extends Frame {
  readonly sessionId: string
}

export interface Place {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly isVisible: boolean
}

interface FrameTree {
  readonly frame: Frame
  readonly childFrames?: readonly FrameTree[]
}

export class Frames {
  readonly #tab: Tab
  readonly #byId: ReadonlyMap<string, KnownFrame>
  readonly #places = new Map<string, Promise<Place>>()

  private constructor(tab: Tab, byId: ReadonlyMap<string, KnownFrame>) {
    this.#tab = tab
    this.#byId = byId
  }

  /** The current frames, main frame first, parents before children. */
  static async of(tab: Tab): Promise<Frames> {
    const trees = await Promise.all(
      tab.sessions.map(async (sessionId) => {
        const asked = tab.cdp.call<{ frameTree: FrameTree }>('Page.getFrameTree', {}, sessionId, ASK_MS)
        // Skip a session that has ended or does not respond.
        const { frameTree } = await asked.catch(() => ({ frameTree: undefined }))
        return frameTree ? flatten(frameTree, sessionId) : []
      }),
    )
    const [own = [], ...others] = trees
    if (own.length === 0) throw new PageGone('The page does not respond')
    const found = new Map(own.map((frame) => [frame.id, frame]))
    // If two sessions know a frame, use the session of the frame's own process.
    for (const frame of others.flat()) found.set(frame.id, frame)
    return new Frames(tab, sorted(found))
  }

  get all(): readonly KnownFrame[] {
    return [...this.#byId.values()]
  }

  get main(): KnownFrame {
    return this.all[0]!
  }

  get(id: string): KnownFrame | undefined {
    return this.#byId.get(id)
  }

  parentOf({ parentId }: KnownFrame): KnownFrame | undefined {
    return parentId === undefined ? undefined : this.#byId.get(parentId)
  }

  /** Position in the window. Rejects when the frame no longer exists. */
  placeOf(frame: KnownFrame): Promise<Place> {
    const known = this.#places.get(frame.id) ?? this.#find(frame)
    this.#places.set(frame.id, known)
    return known
  }

  /** Whether nothing in the parent documents covers this point of the frame. */
  async isReachable(frame: KnownFrame, point: { x: number; y: number }): Promise<boolean> {
    const parent = this.parentOf(frame)
    if (!parent) return true
    const [place, around] = await Promise.all([this.placeOf(frame), this.placeOf(parent)])
    const inParent = { x: point.x + place.x - around.x, y: point.y + place.y - around.y }
    const world = await this.#tab.worldOf(parent, parent.sessionId)
    const isHit = await world.callWith<boolean>(await this.#ownerOf(frame, parent), 'isFrameHit', [
      inParent.x,
      inParent.y,
    ])
    return isHit && (await this.isReachable(parent, inParent))
  }

  async #find(frame: KnownFrame): Promise<Place> {
    const parent = this.parentOf(frame)
    if (!parent) return { x: 0, y: 0, width: Infinity, height: Infinity, isVisible: true }
    const around = await this.placeOf(parent)
    const world = await this.#tab.worldOf(parent, parent.sessionId)
    const box = await world.callWith<FrameBox>(await this.#ownerOf(frame, parent), 'frameBox')
    return {
      x: around.x + box.x,
      y: around.y + box.y,
      width: box.width,
      height: box.height,
      isVisible: around.isVisible && box.isShown,
    }
  }

  async #ownerOf({ id: frameId }: KnownFrame, { sessionId }: KnownFrame): Promise<number> {
    const { backendNodeId } = await this.#tab.cdp.call<{ backendNodeId: number }>(
      'DOM.getFrameOwner',
      { frameId },
      sessionId,
      ASK_MS,
    )
    return backendNodeId
  }
}

function flatten({ frame, childFrames = [] }: FrameTree, sessionId: string): KnownFrame[] {
  return [{ ...frame, sessionId }, ...childFrames.flatMap((child) => flatten(child, sessionId))].slice(
    0,
    MAX_KNOWN,
  )
}

/** Parents before children. Skips frames without a parent. */
function sorted(found: ReadonlyMap<string, KnownFrame>): ReadonlyMap<string, KnownFrame> {
  const [main] = found.values()
  const result = new Map([[main!.id, main!]])
  for (const parent of result.values()) {
    for (const frame of found.values()) {
      if (frame.parentId === parent.id && result.size < MAX_KNOWN) result.set(frame.id, frame)
    }
  }
  return result
}
