// Reports user interaction, which a script observes in an isolated world that pages cannot access.
import { INTERACTION_SCRIPT, BINDING, WORLD } from './interaction-script.ts'
import type { Scene, Target, Watch } from './target.ts'
import { cut } from './text.ts'

const MAX_PAYLOAD = 16 * 1024
const MAX_URL = 8 * 1024

interface BindingCalled {
  readonly name: string
  readonly payload: string
}

interface Seen {
  readonly kind?: unknown
  readonly isTop?: unknown
  readonly url?: unknown
  readonly data?: unknown
}

const types = {
  click: 'interaction_click',
  key: 'interaction_key',
  scroll: 'interaction_scroll_settled',
} as const

export class InteractionWatch implements Watch {
  readonly #scene: Scene
  readonly #onActivity: (target: Target) => void
  /** Script ids by target, for removal. */
  readonly #scripts = new Map<string, Promise<string | undefined>>()

  readonly handlers: Watch['handlers'] = [
    ['Runtime.bindingCalled', (target, params: BindingCalled) => this.#onCalled(target, params)],
  ]

  constructor(scene: Scene, { onActivity }: { onActivity: (target: Target) => void }) {
    this.#scene = scene
    this.#onActivity = onActivity
  }

  apply(target: Target): Promise<unknown>[] {
    if (!target.hasDocument) return []
    const categories = this.#scene.categories()
    // Screenshots also follow interaction.
    const isWanted = categories.has('interaction') || categories.has('screenshot')
    const isOn = target.listening.has('interaction')
    if (isWanted && !isOn) return this.#begin(target)
    if (!isWanted && isOn) return this.#stop(target)
    return []
  }

  /** Restores the binding after the domain was disabled. */
  bind(target: Target): void {
    if (!target.listening.has('interaction')) return
    this.#scene.dispatch(target, 'Runtime.addBinding', { name: BINDING, executionContextName: WORLD })
  }

  #begin(target: Target): Promise<unknown>[] {
    const { call } = this.#scene
    target.listening.add('interaction')
    const script = call<{ identifier: string }>(target, 'Page.addScriptToEvaluateOnNewDocument', {
      source: INTERACTION_SCRIPT,
      worldName: WORLD,
      runImmediately: true,
    })
    this.#scripts.set(
      target.sessionId,
      script.then(
        ({ identifier }) => identifier,
        () => undefined,
      ),
    )
    const binding = call(target, 'Runtime.addBinding', { name: BINDING, executionContextName: WORLD })
    return [binding, script]
  }

  #stop(target: Target): Promise<unknown>[] {
    const { call } = this.#scene
    target.listening.delete('interaction')
    const script = this.#scripts.get(target.sessionId)
    this.#scripts.delete(target.sessionId)
    return [
      call(target, 'Runtime.removeBinding', { name: BINDING }),
      (async () => {
        const identifier = await script
        if (identifier === undefined) return
        await call(target, 'Page.removeScriptToEvaluateOnNewDocument', { identifier })
      })(),
    ]
  }

  remove({ sessionId }: Target): void {
    this.#scripts.delete(sessionId)
  }

  #onCalled(target: Target, { name, payload }: BindingCalled): void {
    if (name !== BINDING || payload.length > MAX_PAYLOAD) return
    const { kind, isTop, url, data } = JSON.parse(payload) as Seen
    if (typeof kind !== 'string' || !Object.hasOwn(types, kind) || typeof data !== 'object') return
    this.#onActivity(target)
    if (!this.#scene.categories().has('interaction')) return
    // Single keys would spell out a secret that is hidden as a whole.
    const isHidden = kind === 'key' && this.#scene.hasSecrets()
    const frameId = target.type === 'iframe' ? target.targetId : undefined
    const { frame_id, ...context } = target.context({
      frameId,
      ...(typeof url === 'string' && { url: cut(url, MAX_URL) }),
    })
    this.#scene.emit({
      type: types[kind as keyof typeof types],
      source: { kind: 'cdp', event: 'Runtime.bindingCalled' },
      // For a nested frame only its URL is known.
      data: {
        ...context,
        ...((isTop === true || frameId) && { frame_id }),
        ...data,
        ...(isHidden && { key: undefined }),
      },
    })
  }
}
