// The agent's entry point to telemetry. The rest is loaded on first use.
import type { ServerResponse } from 'node:http'
import type { TelemetryOrder } from '@berth/contracts/link'
import { unpack } from '../packed.ts'
import type { Secrets } from '../secrets.ts'
import type { StateBoard } from '../state.ts'
import type { Capture, CrashPhase } from './capture.ts'

export class Telemetry {
  readonly #state: StateBoard
  readonly #port: number
  readonly #secrets: Secrets
  #capture: Capture | undefined
  #loading: Promise<Capture> | undefined

  constructor({ state, port, secrets }: { state: StateBoard; port: number; secrets: Secrets }) {
    this.#state = state
    this.#port = port
    this.#secrets = secrets
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

  async #load(): Promise<Capture> {
    const { Capture: Part } = await unpack('telemetry')
    this.#capture = new Part({ state: this.#state, port: this.#port, secrets: this.#secrets })
    return this.#capture
  }
}
