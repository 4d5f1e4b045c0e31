// A page, frame or worker that telemetry follows.
import type { Category } from '@berth/contracts/telemetry-events'
import type { Event } from './ring.ts'

export interface TargetInfo {
  readonly targetId: string
  readonly type: string
  readonly url: string
  readonly title: string
  readonly openerId?: string
}

/** The part of the monitor that watches use. */
export interface Scene {
  readonly categories: () => ReadonlySet<Category>
  readonly emit: (event: Event) => void
  readonly drop: (count: number) => void
  /** Whether a login has secrets, which may be typed or shown. */
  readonly hasSecrets: () => boolean
  readonly call: <T = Record<string, unknown>>(target: Target, method: string, params: object) => Promise<T>
  readonly dispatch: (target: Target, method: string, params: object) => void
}

/** One kind of thing to listen to. */
export interface Watch {
  readonly handlers: readonly (readonly [method: string, handle: (target: Target, params: never) => void])[]
  /** Starts or stops listening, depending on the categories; returns the calls it sent. */
  apply(target: Target): Promise<unknown>[]
  remove(target: Target): void
}

const knownTypes = new Set(['page', 'background_page', 'service_worker', 'shared_worker'])

/** State shared by all targets of a tab: the page, its frames and workers. */
export interface Tab {
  readonly targetId: string
  readonly type: string
  /** Number of documents so far. */
  navigations: number
  frameId: string | undefined
  loaderId: string | undefined
  url: string
}

export interface Context {
  readonly frameId?: string | undefined
  readonly loaderId?: string | undefined
  readonly url?: string | undefined
}

export class Target {
  readonly sessionId: string
  readonly targetId: string
  readonly type: string
  readonly info: TargetInfo
  /** The page or worker that contains it. */
  readonly parent: Target | undefined
  readonly tab: Tab
  /** Whether its child targets are attached. */
  isFollowed = false
  /** The domains that are enabled. */
  readonly listening = new Set<string>()

  constructor(options: { sessionId: string; info: TargetInfo; parent: Target | undefined }) {
    const { sessionId, info, parent } = options
    this.sessionId = sessionId
    this.targetId = info.targetId
    this.type = info.type
    this.info = info
    this.parent = parent
    // An out-of-process frame belongs to its page.
    this.tab =
      this.type === 'iframe' && parent
        ? parent.tab
        : {
            targetId: info.targetId,
            type: info.type,
            navigations: 0,
            frameId: info.type === 'page' ? info.targetId : undefined,
            loaderId: undefined,
            url: info.url,
          }
  }

  get hasDocument(): boolean {
    return this.type === 'page' || this.type === 'iframe' || this.type === 'background_page'
  }

  /** The fields that say where an event happened. */
  context({ frameId, loaderId, url }: Context = {}): Record<string, unknown> {
    const { tab } = this
    const isDocument = this.hasDocument
    return {
      session_id: this.sessionId,
      target_id: tab.targetId,
      target_type: knownTypes.has(tab.type) ? tab.type : 'other',
      frame_id: frameId ?? (isDocument ? tab.frameId : undefined),
      loader_id: loaderId ?? (isDocument ? tab.loaderId : undefined),
      url: url ?? tab.url,
      nav_seq: isDocument ? tab.navigations : undefined,
    }
  }
}
