// Captures telemetry on a server's order, into a ring that a server reads.
import type { Writable } from 'node:stream'
import { once } from 'node:events'
import type { TelemetryOrder } from '@berth/contracts/link'
import { cdpCategories, type Category } from '@berth/contracts/telemetry-events'
import type { Secrets } from '../secrets/secrets.ts'
import type { StateBoard } from '../instance/state.ts'
import { Monitor } from './monitor.ts'
import type { FailureOf } from './network.ts'
import { Ring } from './ring.ts'

export type CrashPhase = 'startup' | 'running' | 'gave_up'

export class Capture {
  readonly #ring: Ring
  readonly #monitor: Monitor
  #version = -1
  #soundSince: number | undefined
  #categories: ReadonlySet<Category> = new Set()

  constructor(options: { state: StateBoard; port: number; secrets: Secrets; failureOf: FailureOf }) {
    this.#ring = new Ring(options.secrets)
    this.#monitor = new Monitor({ ...options, ring: this.#ring })
  }

  async order({ categories, version }: TelemetryOrder): Promise<void> {
    // Several servers may send orders at once; the newest version wins, whatever the order of arrival.
    if (version < this.#version) return
    this.#version = version
    this.#categories = new Set(categories)
    const isSeen = [...cdpCategories, 'screenshot' as const].some((category) =>
      this.#categories.has(category),
    )
    await (isSeen ? this.#monitor.capture(this.#categories) : this.#monitor.stop())
  }

  /** Sends events after that number until the reader leaves. */
  async send(after: number, to: Writable): Promise<void> {
    const gone = new AbortController()
    to.once('close', () => gone.abort())
    let position = after
    while (!gone.signal.aborted) {
      const { text, last } = this.#ring.after(position)
      if (text === '') await this.#ring.changed(gone.signal)
      else if (!to.write(text)) await once(to, 'drain', { signal: gone.signal }).catch(() => {})
      position = last
    }
  }

  crashed(service: string, phase: CrashPhase, pid?: number): void {
    if (!this.#categories.has('system')) return
    this.#ring.emit({
      type: 'service_crashed',
      source: { kind: 'local_process' },
      data: { service_name: service, phase, ...(pid !== undefined && { pid }) },
    })
  }

  sound(isPlaying: boolean): void {
    const since = this.#soundSince
    this.#soundSince = isPlaying ? performance.now() : undefined
    if (!this.#categories.has('system')) return
    const source = { kind: 'local_process' } as const
    if (isPlaying) this.#ring.emit({ type: 'sound_start', source })
    else if (since !== undefined) {
      const data = { duration_ms: Math.round(performance.now() - since) }
      this.#ring.emit({ type: 'sound_stop', source, data })
    }
  }
}
