import type { Duplex } from 'node:stream'
import type { Target } from './target.ts'
import {
  DirectUpstream,
  type DirectUpstreamOptions,
  type RequestConnection,
  type Upstream,
} from './upstream.ts'

/**
 * For the server's own few connections to addresses that projects choose. Each has its own look-ups, so that the names
 * of one project do not delay those of another.
 */
export class PerCallUpstream implements Upstream {
  readonly #options: DirectUpstreamOptions

  constructor(options: DirectUpstreamOptions) {
    this.#options = options
  }

  async connect(target: Target, signal: AbortSignal): Promise<Duplex> {
    using direct = new DirectUpstream(this.#options)
    return await direct.connect(target, signal)
  }

  async connectForRequest(target: Target, signal: AbortSignal): Promise<RequestConnection> {
    return { stream: await this.connect(target, signal) }
  }
}
