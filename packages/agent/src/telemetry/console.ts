// Reports console lines and uncaught errors of pages and workers. When a page writes too much, lines are only counted;
// if that is still too much, the agent stops listening for a while.
import { Budget } from './budget.ts'
import type { Scene, Target, Watch } from './target.ts'
import { cut, Cutter } from './text.ts'

const LINES = { most: 2_000, perSecond: 500 }
/** Messages are parsed as a whole, and a page decides how large they are. */
const MAX_MESSAGE = 8 * 1024 * 1024
/** Dropped lines per second beyond which listening slows the page too much. */
const MAX_DROPPED = 5_000
const PAUSE_MS = 5_000
const MAX_TEXT = 8 * 1024
const MAX_ARGUMENT = 4 * 1024
const MAX_ARGUMENTS = 32
const MAX_FRAMES = 32
const MAX_PARENTS = 4
const MAX_CONTEXTS = 2_000
/** Chromium keeps logged objects for listeners until they release them. */
const RELEASE_MS = 1_000

interface RemoteObject {
  readonly type: string
  readonly subtype?: string
  readonly value?: unknown
  readonly unserializableValue?: string
  readonly description?: string
  readonly objectId?: string
  readonly preview?: Preview
}

interface Preview {
  readonly type: string
  readonly subtype?: string
  readonly description?: string
  readonly overflow: boolean
  readonly properties: readonly { readonly name: string; readonly value?: string; readonly type: string }[]
}

interface StackTrace {
  readonly description?: string
  readonly callFrames: readonly object[]
  readonly parent?: StackTrace
}

interface ConsoleCall {
  readonly type: string
  readonly args: readonly RemoteObject[]
  readonly executionContextId: number
  readonly stackTrace?: StackTrace
}

interface Thrown {
  readonly exceptionDetails: {
    readonly text: string
    readonly lineNumber: number
    readonly columnNumber: number
    readonly url?: string
    readonly stackTrace?: StackTrace
    readonly exception?: RemoteObject
    readonly executionContextId?: number
  }
}

interface ContextCreated {
  readonly context: { readonly id: number; readonly auxData?: { readonly frameId?: string } }
}

interface Listener {
  readonly target: Target
  readonly lines: Budget
  /** Lines that arrive before listening is confirmed are old. */
  isReplaying: boolean
  /** A new target has no old lines. */
  readonly isNew: boolean
  dropped: number
  droppedSince: number
  pause: NodeJS.Timeout | undefined
  release: NodeJS.Timeout | undefined
  readonly frames: Map<number, string>
}

export class ConsoleWatch implements Watch {
  readonly #scene: Scene
  readonly #onDisabled: (target: Target) => void
  readonly #listeners = new Map<string, Listener>()
  readonly handlers: Watch['handlers'] = [
    ['Runtime.consoleAPICalled', (target, params: ConsoleCall) => this.#onCall(target, params)],
    ['Runtime.exceptionThrown', (target, params: Thrown) => this.#onThrown(target, params)],
    ['Runtime.executionContextCreated', (target, params: ContextCreated) => this.#onContext(target, params)],
    ['Runtime.executionContextsCleared', (target) => this.#listeners.get(target.sessionId)?.frames.clear()],
  ]

  /** `onDisabled`: called when the domain is disabled, which also ends its other subscriptions. */
  constructor(scene: Scene, { onDisabled }: { onDisabled: (target: Target) => void }) {
    this.#scene = scene
    this.#onDisabled = onDisabled
  }

  add(target: Target, { isNew }: { isNew: boolean }): void {
    this.#listeners.set(target.sessionId, {
      target,
      lines: new Budget(LINES),
      isReplaying: false,
      isNew,
      dropped: 0,
      droppedSince: 0,
      pause: undefined,
      release: undefined,
      frames: new Map(),
    })
  }

  remove({ sessionId }: Target): void {
    const listener = this.#listeners.get(sessionId)
    clearTimeout(listener?.pause)
    clearTimeout(listener?.release)
    this.#listeners.delete(sessionId)
  }

  apply(target: Target): Promise<unknown>[] {
    const listener = this.#listeners.get(target.sessionId)!
    const isWanted = this.#scene.categories().has('console')
    const isOn = target.listening.has('console')
    if (isWanted && !isOn) {
      target.listening.add('console')
      return [this.#listen(listener, { isReplay: !listener.isNew })]
    }
    if (!isWanted && isOn) {
      target.listening.delete('console')
      clearTimeout(listener.pause)
      const disabled = this.#scene.call(target, 'Runtime.disable', {})
      this.#onDisabled(target)
      return [disabled]
    }
    return []
  }

  async #listen(listener: Listener, { isReplay }: { isReplay: boolean }): Promise<void> {
    listener.isReplaying = isReplay
    try {
      // Chromium sends earlier lines before the answer.
      await this.#scene.call(listener.target, 'Runtime.enable', {})
    } finally {
      listener.isReplaying = false
    }
  }

  /** Whether to parse a line; called before parsing. */
  admits(sessionId: string, length: number): boolean {
    const listener = this.#listeners.get(sessionId)
    if (!listener) return false
    if (listener.isReplaying) return false
    if (length <= MAX_MESSAGE && listener.lines.take()) return true
    this.#scene.drop(1)
    this.#onDropped(listener)
    return false
  }

  #onDropped(listener: Listener): void {
    const now = performance.now()
    if (now - listener.droppedSince > 1_000) {
      listener.dropped = 0
      listener.droppedSince = now
    }
    if (++listener.dropped < MAX_DROPPED || listener.pause) return
    const { target } = listener
    this.#scene.dispatch(target, 'Runtime.disable', {})
    this.#onDisabled(target)
    listener.pause = setTimeout(() => {
      listener.pause = undefined
      if (target.listening.has('console')) this.#listen(listener, { isReplay: true }).catch(() => {})
    }, PAUSE_MS)
  }

  #onContext(target: Target, { context }: ContextCreated): void {
    const frames = this.#listeners.get(target.sessionId)?.frames
    const frameId = context.auxData?.frameId
    if (!frames || frameId === undefined) return
    if (frames.size >= MAX_CONTEXTS) frames.clear()
    frames.set(context.id, frameId)
  }

  #onCall(target: Target, { type, args, executionContextId, stackTrace }: ConsoleCall): void {
    const cutter = new Cutter()
    const shown = args.slice(0, MAX_ARGUMENTS).map((argument) => cutter.cut(toText(argument), MAX_ARGUMENT))
    if (args.length > shown.length) cutter.isTruncated = true
    this.#emit(target, {
      type: type === 'error' ? 'console_error' : 'console_log',
      event: 'Runtime.consoleAPICalled',
      context: executionContextId,
      data: { level: type, text: shown[0] ?? '', args: shown, stack_trace: toStack(stackTrace, cutter) },
      isTruncated: cutter.isTruncated,
    })
    if (args.some(({ objectId }) => objectId !== undefined)) this.#releaseSoon(target)
  }

  #onThrown(target: Target, { exceptionDetails: thrown }: Thrown): void {
    if (this.#listeners.get(target.sessionId)?.isReplaying) return
    const cutter = new Cutter()
    this.#emit(target, {
      type: 'console_error',
      event: 'Runtime.exceptionThrown',
      context: thrown.executionContextId,
      data: {
        text: cutter.cut(thrownText(thrown), MAX_TEXT),
        line: thrown.lineNumber,
        column: thrown.columnNumber,
        source_url: thrown.url && cutter.cut(thrown.url, MAX_ARGUMENT),
        stack_trace: toStack(thrown.stackTrace, cutter),
      },
      isTruncated: cutter.isTruncated,
    })
    if (thrown.exception?.objectId !== undefined) this.#releaseSoon(target)
  }

  #emit(
    target: Target,
    told: {
      type: 'console_log' | 'console_error'
      event: string
      context: number | undefined
      data: object
      isTruncated: boolean
    },
  ): void {
    if (!this.#scene.categories().has('console')) return
    const frameId = this.#listeners.get(target.sessionId)?.frames.get(told.context ?? -1)
    this.#scene.emit({
      type: told.type,
      source: { kind: 'cdp', event: told.event },
      data: { ...target.context({ frameId }), ...told.data },
      truncated: told.isTruncated,
    })
  }

  #releaseSoon(target: Target): void {
    const listener = this.#listeners.get(target.sessionId)
    if (!listener || listener.release) return
    listener.release = setTimeout(() => {
      listener.release = undefined
      this.#scene.dispatch(target, 'Runtime.releaseObjectGroup', { objectGroup: 'console' })
    }, RELEASE_MS)
  }
}

function thrownText({ text, exception }: Thrown['exceptionDetails']): string {
  if (!exception) return text
  const [description = ''] = (exception.description ?? toText(exception)).split('\n    at ', 1)
  return `${text} ${description}`
}

function toText({ type, value, unserializableValue, description, preview }: RemoteObject): string {
  if (type === 'string') return value as string
  if (unserializableValue !== undefined) return unserializableValue
  if (value !== undefined) return JSON.stringify(value)
  if (type === 'undefined') return 'undefined'
  const isPlain = preview && (preview.subtype === 'array' || preview.description === 'Object')
  return isPlain ? previewText(preview) : (description ?? type)
}

function previewText({ subtype, properties, overflow }: Preview): string {
  const isArray = subtype === 'array'
  const shown = properties.map(({ name, value = '', type }) => {
    const text = type === 'string' ? JSON.stringify(value) : value
    return isArray ? text : `${name}: ${text}`
  })
  if (overflow) shown.push('…')
  return isArray ? `[${shown.join(', ')}]` : `{${shown.join(', ')}}`
}

function toStack(stack: StackTrace | undefined, cutter: Cutter, depth = 0): StackTrace | undefined {
  if (!stack || depth > MAX_PARENTS) return undefined
  const { description, callFrames, parent } = stack
  const shown = callFrames.slice(0, MAX_FRAMES).map((frame) => {
    const { functionName, scriptId, url, lineNumber, columnNumber } = frame as Record<string, unknown>
    return {
      functionName: cut(String(functionName), MAX_ARGUMENT / 4),
      scriptId,
      url: cutter.cut(String(url), MAX_ARGUMENT / 2),
      lineNumber,
      columnNumber,
    }
  })
  const above = toStack(parent, cutter, depth + 1)
  return {
    ...(description && { description: cut(description, MAX_ARGUMENT / 4) }),
    callFrames: shown,
    ...(above && { parent: above }),
  }
}
