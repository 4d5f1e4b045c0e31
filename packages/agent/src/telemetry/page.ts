// Reports navigations of pages and frames, when they have loaded, and when they are idle.
import type { Scene, Tab, Target, Watch } from './target.ts'
import { cut } from './text.ts'

const SETTLED_MS = 1_000
const MAX_URL = 8 * 1024
const MAX_TITLE = 1024

interface FrameNavigated {
  readonly frame: {
    readonly id: string
    readonly parentId?: string
    readonly loaderId: string
    readonly url: string
  }
}

interface WithinDocument {
  readonly frameId: string
  readonly url: string
}

interface Fired {
  readonly timestamp: number
}

interface Timeline {
  readonly event: {
    readonly frameId: string
    readonly type: string
    readonly time: number
    readonly duration?: number
    readonly lcpDetails?: {
      readonly renderTime: number
      readonly loadTime: number
      readonly size: number
      readonly elementId?: string
      readonly url?: string
      readonly nodeId?: number
    }
    readonly layoutShiftDetails?: { readonly value: number; readonly hadRecentInput: boolean }
  }
}

/** Of one document. */
interface Rest {
  hasContent: boolean
  isLoaded: boolean
  timer: NodeJS.Timeout | undefined
}

type PageEvent =
  | 'page_navigation'
  | 'page_dom_content_loaded'
  | 'page_load'
  | 'page_tab_opened'
  | 'page_layout_shift'
  | 'page_lcp'
  | 'page_layout_settled'
  | 'page_navigation_settled'

export class PageWatch implements Watch {
  readonly #scene: Scene
  readonly #onActivity: (target: Target) => void
  readonly #rests = new Map<Tab, Rest>()

  readonly handlers: Watch['handlers'] = [
    ['Page.frameNavigated', (target, params: FrameNavigated) => this.#onNavigated(target, params)],
    [
      'Page.navigatedWithinDocument',
      (target, params: WithinDocument) => this.#onWithinDocument(target, params),
    ],
    ['Page.domContentEventFired', (target, params: Fired) => this.#onContent(target, params)],
    ['Page.loadEventFired', (target, params: Fired) => this.#onLoad(target, params)],
    [
      'PerformanceTimeline.timelineEventAdded',
      (target, params: Timeline) => this.#onTimeline(target, params),
    ],
  ]

  constructor(scene: Scene, { onActivity }: { onActivity: (target: Target) => void }) {
    this.#scene = scene
    this.#onActivity = onActivity
  }

  apply(target: Target): Promise<unknown>[] {
    if (!target.hasDocument) return []
    const sent: Promise<unknown>[] = []
    if (!target.listening.has('page')) {
      target.listening.add('page')
      sent.push(this.#scene.call(target, 'Page.enable', {}))
      if (target.type === 'page') sent.push(this.#learn(target))
    }
    const isWanted = this.#scene.categories().has('page')
    const isOn = target.listening.has('timeline')
    if (isWanted !== isOn) {
      if (isWanted) target.listening.add('timeline')
      else target.listening.delete('timeline')
      const eventTypes = isWanted ? ['largest-contentful-paint', 'layout-shift'] : []
      sent.push(this.#scene.call(target, 'PerformanceTimeline.enable', { eventTypes }))
    }
    return sent
  }

  /** Learns the URL of a page that was open before capture started. */
  async #learn(target: Target): Promise<void> {
    const { tab } = target
    const { frameTree } = await this.#scene.call<{ frameTree: { frame: FrameNavigated['frame'] } }>(
      target,
      'Page.getFrameTree',
      {},
    )
    if (tab.navigations > 0) return
    const { frame } = frameTree
    tab.frameId = frame.id
    tab.loaderId = frame.loaderId
    tab.url = cut(frame.url, MAX_URL)
  }

  remove(target: Target): void {
    if (target.type === 'iframe') return
    clearTimeout(this.#rests.get(target.tab)?.timer)
    this.#rests.delete(target.tab)
  }

  onOpened({ info, tab }: Target): void {
    this.#emit('page_tab_opened', 'Target.attachedToTarget', {
      target_id: info.targetId,
      target_type: tab.type,
      url: cut(info.url, MAX_URL),
      title: cut(info.title, MAX_TITLE),
      opener_id: info.openerId,
    })
  }

  #onNavigated(target: Target, { frame }: FrameNavigated): void {
    const { tab } = target
    const url = cut(frame.url, MAX_URL)
    const isTop = target.type !== 'iframe' && frame.parentId === undefined
    if (isTop) {
      tab.navigations++
      tab.frameId = frame.id
      tab.loaderId = frame.loaderId
      tab.url = url
      clearTimeout(this.#rests.get(tab)?.timer)
      this.#rests.set(tab, { hasContent: false, isLoaded: false, timer: undefined })
    }
    const { nav_seq: _epoch, ...context } = target.context({
      frameId: frame.id,
      loaderId: frame.loaderId,
      url,
    })
    this.#emit('page_navigation', 'Page.frameNavigated', { ...context, parent_frame_id: frame.parentId })
    this.#onActivity(target)
  }

  #onWithinDocument(target: Target, { frameId, url }: WithinDocument): void {
    if (frameId === target.tab.frameId) target.tab.url = cut(url, MAX_URL)
  }

  #onContent(target: Target, { timestamp }: Fired): void {
    if (target.type === 'iframe') return
    const rest = this.#rests.get(target.tab)
    if (rest) rest.hasContent = true
    this.#emit('page_dom_content_loaded', 'Page.domContentEventFired', {
      ...target.context(),
      cdp_timestamp: timestamp,
    })
  }

  #onLoad(target: Target, { timestamp }: Fired): void {
    if (target.type === 'iframe') return
    this.#emit('page_load', 'Page.loadEventFired', { ...target.context(), cdp_timestamp: timestamp })
    const rest = this.#rests.get(target.tab)
    if (rest) {
      rest.isLoaded = true
      this.#restSoon(target, rest)
    }
    this.#onActivity(target)
  }

  #restSoon(target: Target, rest: Rest): void {
    clearTimeout(rest.timer)
    rest.timer = setTimeout(() => {
      rest.timer = undefined
      // Once per document.
      rest.isLoaded = false
      this.#emit('page_layout_settled', undefined, target.context())
      if (rest.hasContent) this.#emit('page_navigation_settled', undefined, target.context())
      this.#onActivity(target)
    }, SETTLED_MS)
  }

  #onTimeline(target: Target, { event }: Timeline): void {
    const { frameId, time, duration, lcpDetails: lcp, layoutShiftDetails: shift } = event
    const common = { ...target.context(), source_frame_id: frameId, time: time * 1000 }
    if (lcp) {
      this.#emit('page_lcp', 'PerformanceTimeline.timelineEventAdded', {
        ...common,
        lcp_details: {
          element_id: lcp.elementId && cut(lcp.elementId, MAX_TITLE),
          node_id: lcp.nodeId,
          size: lcp.size,
          url: lcp.url && cut(lcp.url, MAX_URL),
          load_time: lcp.loadTime * 1000,
          render_time: lcp.renderTime * 1000,
        },
      })
    }
    if (!shift) return
    this.#emit('page_layout_shift', 'PerformanceTimeline.timelineEventAdded', {
      ...common,
      duration: duration ?? 0,
      layout_shift_details: { value: shift.value, had_recent_input: shift.hadRecentInput },
    })
    const rest = this.#rests.get(target.tab)
    if (rest?.timer) this.#restSoon(target, rest)
  }

  #emit(type: PageEvent, event: string | undefined, data: object): void {
    if (!this.#scene.categories().has('page')) return
    this.#scene.emit({ type, source: { kind: 'cdp', ...(event && { event }) }, data })
  }
}
