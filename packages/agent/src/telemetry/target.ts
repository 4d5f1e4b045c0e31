// A page, frame or worker that we listen to.
import type { Category } from '@berth/contracts/telemetry-events'
import type { Event } from './ring.ts'

export interface TargetInfo {
  readonly targetId: string
  readonly type: string
  readonly url: string
  readonly title: string
  readonly openerId?: string
}

/** What watches have of the monitor. */
export interface Scene {
  readonly categories: () => ReadonlySet<Category>
  readonly emit: (event: Event) => void
  readonly drop: (count: number) => void
  /** Of a login: what is typed may be one of them, and what is shown, too. */
  readonly hasSecrets: () => boolean
  readonly call: <T = Record<string, unknown>>(target: Target, method: string, params: object) => Promise<T>
  readonly dispatch: (target: Target, method: string, params: object) => void
}

/** One kind of thing to listen to. */
export interface Watch {
  readonly handlers: readonly (readonly [method: string, handle: (target: Target, params: never) => void])[]
  /** Begins or stops to listen, as the categories are; what was sent for it. */
  apply(target: Target): Promise<unknown>[]
  remove(target: Target): void
}

const knownTypes = new Set(['page', 'background_page', 'service_worker', 'shared_worker'])

/** What all targets of a tab share: the page, and its frames and workers. */
export interface Tab {
  readonly targetId: string
  readonly type: string
  /** Counts the documents it has had. */
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
  /** The page or worker that it is in. */
  readonly parent: Target | undefined
  readonly tab: Tab
  /** Whether its own children are attached to. */
  isFollowed = false
  /** What it was told to listen to. */
  readonly listening = new Set<string>()

  constructor(options: { sessionId: string; info: TargetInfo; parent: Target | undefined }) {
    const { sessionId, info, parent } = options
    this.sessionId = sessionId
    this.targetId = info.targetId
    this.type = info.type
    this.info = info
    this.parent = parent
    // A frame in a process of its own belongs to its page.
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

  /** What every event tells of where it happened. */
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
