// Waits until a page is quiet: no navigation, no pending request, no change of its documents.
import { pause } from '@berth/kit/pause'
import { Frames } from './frames.ts'
import type { Rest } from './page-types.ts'
import type { Tab } from './tab.ts'

const LOOK_EVERY_MS = 25
const LOOK_AGAIN_MS = 400

export interface Patience {
  readonly quietMs: number
  /** Timestamp of performance.now(). */
  readonly deadline: number
  readonly signal: AbortSignal
}

/** Resolves with true when the page is quiet, or with false at the deadline. */
export async function whenQuiet(
  current: () => Tab,
  { quietMs, deadline, signal }: Patience,
): Promise<boolean> {
  for (;;) {
    signal.throwIfAborted()
    const tab = current()
    const now = performance.now()
    const isSettled = !tab.isNavigating && !tab.traffic.isBusy
    const since = Math.max(tab.traffic.movedAt, tab.document.since, tab.usedAt)
    if (isSettled && now - since >= quietMs && (tab.isCrashed || (await isStill(tab, quietMs)))) return true
    if (performance.now() >= deadline) {
      tab.traffic.endure()
      return false
    }
    await pause(LOOK_EVERY_MS, signal)
  }
}

async function isStill(tab: Tab, quietMs: number): Promise<boolean> {
  const rests = await restsOf(tab)
  return rests !== undefined && rests.every(({ stillMs, isLoading }) => stillMs >= quietMs && !isLoading)
}

/** State of all frames that respond. Undefined when the main frame does not respond. */
async function restsOf(tab: Tab): Promise<Rest[] | undefined> {
  try {
    const frames = await Frames.of(tab)
    const rests = await Promise.all(
      frames.all.map(async (frame) => {
        try {
          const world = await tab.worldOf(frame, frame.sessionId)
          return await world.call<Rest>('rest', [], { ms: LOOK_AGAIN_MS })
        } catch {
          return frame === frames.main ? undefined : IGNORED
        }
      }),
    )
    const [main] = rests
    return main ? rests.flatMap((rest) => rest ?? []) : undefined
  } catch {
    return undefined
  }
}

/** A frame that does not respond does not delay the page. */
const IGNORED: Rest = { stillMs: Infinity, changes: 0, isLoading: false }

/** Number of changes in all documents. Undefined while the page does not respond. */
export async function changesOf(tab: Tab): Promise<number | undefined> {
  const rests = await restsOf(tab)
  return rests?.reduce((sum, { changes }) => sum + changes, 0)
}
