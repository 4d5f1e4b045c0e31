// The agent's entry point to telemetry. The rest is loaded on first use.
import type { ServerResponse } from 'node:http'
import type { TelemetryOrder } from '@berth/contracts/link'
import type { Secrets } from '../secrets/secrets.ts'
import type { StateBoard } from '../instance/state.ts'
import type { Capture, CrashPhase } from './capture.ts'
import type { FailureOf } from './network.ts'

export interface TelemetryOptions {
  readonly state: StateBoard
  readonly port: number
  readonly secrets: Secrets
  readonly failureOf: FailureOf
  readonly loadCapture: () => Promise<typeof Capture>
}

export class Telemetry {
  readonly #options: TelemetryOptions
  #capture: Capture | undefined
  #loading: Promise<Capture> | undefined

  constructor(options: TelemetryOptions) {
    this.#options = options
  }

  /** Resolves when everything that can be captured is being captured. */
  async order(order: TelemetryOrder): Promise<void> {
    this.#loading ??= this.#load()
    await (await this.#loading).order(order)
  }

  /** Sends lines of events until the reader leaves. */
  async answer(after: number, response: ServerResponse): Promise<void> {
    const capture = await this.#loading
    response.writeHead(200)
    response.flushHeaders()
    if (!capture) return void response.end()
    await capture.send(after, response)
  }

  crashed(service: string, phase: CrashPhase, pid?: number): void {
    this.#capture?.crashed(service, phase, pid)
  }

  sound(isPlaying: boolean): void {
    this.#capture?.sound(isPlaying)
  }

  async #load(): Promise<Capture> {
    const { loadCapture, ...options } = this.#options
    const Loaded = await loadCapture()
    this.#capture = new Loaded(options)
    return this.#capture
  }
}
