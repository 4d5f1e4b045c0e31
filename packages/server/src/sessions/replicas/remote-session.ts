// A session that another server has, reached through it. That server holds it awake for as long as a
// tunnel is open.
import type { Duplex } from 'node:stream'
import type { EndReason } from '@berth/contracts/browsers'
import type { LinkPurpose } from '@berth/contracts/link'
import { awake, SessionEnded, type AgentLoan, type Hold, type Session } from '../session/session.ts'
import { pause } from '@berth/kit/pause'
import { AgentClient } from '../../instances/agent/client.ts'
import { waitForChromium } from '../../instances/agent/state.ts'
import { categoryOfType, type Category } from '@berth/contracts/telemetry-events'
import type { OwnEvent } from '../session/own-event.ts'

const RETRY_MS = 1_000

export interface RemoteSessionOptions {
  readonly id: string
  readonly leaseNumber: number
  readonly dial: (purpose: LinkPurpose, signal: AbortSignal) => Promise<Duplex>
  /** For as long as somebody holds it, its end is of interest here. */
  readonly watch: (session: RemoteSession) => Disposable
  /** What was captured when it was found. */
  readonly telemetry: readonly Category[]
  readonly onEvent: (event: OwnEvent) => void
}

export class RemoteSession implements Session {
  readonly id: string
  readonly leaseNumber: number
  readonly #options: RemoteSessionOptions
  readonly #ending = new AbortController()

  constructor(options: RemoteSessionOptions) {
    this.id = options.id
    this.leaseNumber = options.leaseNumber
    this.#options = options
  }

  get ending(): AbortSignal {
    return this.#ending.signal
  }

  hold(): Hold {
    const watched = this.#options.watch(this)
    return { stir: () => {}, [Symbol.dispose]: () => watched[Symbol.dispose]() }
  }

  /** By a tunnel that carries nothing; opened again when the other server was started again. */
  stayAwake(): Disposable {
    const hold = this.hold()
    const over = new AbortController()
    void this.#keepTunnel(AbortSignal.any([over.signal, this.ending]))
    return {
      [Symbol.dispose]: () => {
        over.abort()
        hold[Symbol.dispose]()
      },
    }
  }

  async #keepTunnel(over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      try {
        const tunnel = await this.connect('api', over)
        const onOver = () => tunnel.destroy()
        over.addEventListener('abort', onOver, { once: true })
        tunnel.on('error', () => {})
        tunnel.resume()
        await new Promise((resolve) => tunnel.once('close', resolve))
        over.removeEventListener('abort', onOver)
      } catch {
        // It is nobody's, or about to be found again.
      }
      await pause(RETRY_MS, over)
    }
  }

  publish(event: OwnEvent): void {
    const { telemetry, onEvent } = this.#options
    if ((telemetry as readonly string[]).includes(categoryOfType[event.type])) onEvent(event)
  }

  connect(purpose: LinkPurpose, signal: AbortSignal): Promise<Duplex> {
    return this.#options.dial(purpose, AbortSignal.any([signal, this.ending]))
  }

  async devtoolsPath(): Promise<string> {
    const { devtools_path } = await awake(this, (agent) => waitForChromium(agent, { signal: this.ending }))
    return devtools_path
  }

  /** With connections that end with the work: an open one would keep the session from its standby. */
  async lend(): Promise<AgentLoan> {
    const hold = this.hold()
    const agent = new AgentClient(this)
    return {
      agent,
      [Symbol.dispose]: () => {
        agent.close()
        hold[Symbol.dispose]()
      },
    }
  }

  end(reason: EndReason): void {
    this.#ending.abort(new SessionEnded(reason))
  }
}
