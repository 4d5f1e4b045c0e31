// A session on another server, reached through a tunnel. That server holds the session as long as a tunnel is open.
import type { Duplex } from 'node:stream'
import type { EndReason } from '@berth/contracts/browsers'
import type { LinkPurpose } from '@berth/contracts/link'
import { awake, SessionEnded, type AgentLoan, type Hold, type Session } from '../session/session.ts'
import { pause } from '@berth/kit/pause'
import { AgentClient } from '../../instances/agent/client.ts'
import { waitForChromium } from '../../instances/agent/state.ts'
import { categoryOfType, type Category } from '@berth/contracts/telemetry-events'
import type { TunnelPurpose } from './tunnel.ts'
import type { OwnEvent } from '../session/own-event.ts'

const RETRY_MS = 1_000

export interface RemoteSessionOptions {
  readonly id: string
  readonly projectId: string
  readonly leaseNumber: number
  readonly dial: (purpose: TunnelPurpose, signal: AbortSignal) => Promise<Duplex>
  /** Watches for the end of the session while somebody here holds it. */
  readonly watch: (session: RemoteSession) => Disposable
  /** The captured categories when the session was found. */
  readonly telemetry: readonly Category[]
  readonly onEvent: (event: OwnEvent) => void
}

export class RemoteSession implements Session {
  readonly id: string
  readonly projectId: string
  readonly leaseNumber: number
  readonly #options: RemoteSessionOptions
  readonly #ending = new AbortController()
  #peeking: AgentClient | undefined

  constructor(options: RemoteSessionOptions) {
    this.id = options.id
    this.projectId = options.projectId
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

  /** Keeps an idle tunnel open, and reopens it after the other server restarts. */
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
        // No server has the session, or the next attempt finds it.
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

  /** Its connections stay open for a while, because they hold nothing. */
  peek(): AgentClient {
    const { dial } = this.#options
    const connect = (_purpose: LinkPurpose, signal: AbortSignal) =>
      dial('aside', AbortSignal.any([signal, this.ending]))
    return (this.#peeking ??= new AgentClient({ connect }))
  }

  /** Closes its connections after the work, because an open one would keep the session from standby. */
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
