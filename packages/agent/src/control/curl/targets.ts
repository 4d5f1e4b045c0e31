// Hidden targets that send requests: they have no tab, and clients do not see them. Chromium closes them with the
// connection that created them, so nothing is left behind.
import { CdpConnection, type CdpEvent } from '../../cdp/cdp-connection.ts'

export interface Target {
  readonly cdp: CdpConnection
  readonly targetId: string
  readonly sessionId: string
  /** The exchange that uses the target now. */
  onEvent: (event: CdpEvent) => void
}

const BOTH_WAYS = [{ requestStage: 'Request' }, { requestStage: 'Response' }]

export class Targets {
  readonly #cdp: CdpConnection
  readonly #bySession: Map<string, Target>
  readonly #idle: Target[] = []
  #isClosed = false

  private constructor(cdp: CdpConnection, bySession: Map<string, Target>) {
    this.#cdp = cdp
    this.#bySession = bySession
    void cdp.closed.then(() => (this.#isClosed = true))
  }

  static async open(port: number, path: string): Promise<Targets> {
    const bySession = new Map<string, Target>()
    const cdp = await CdpConnection.open(port, path, (event) => {
      if (event.sessionId !== undefined) bySession.get(event.sessionId)?.onEvent(event)
    })
    return new Targets(cdp, bySession)
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  async take(): Promise<Target> {
    return this.#idle.pop() ?? this.#make()
  }

  /** The target can be reused, because its navigations never complete. */
  giveBack(target: Target): void {
    target.onEvent = () => {}
    this.#idle.push(target)
  }

  discard({ targetId, sessionId }: Target): void {
    this.#bySession.delete(sessionId)
    if (!this.#isClosed) this.#cdp.dispatch('Target.closeTarget', { targetId })
  }

  close(): void {
    this.#isClosed = true
    this.#cdp.close()
  }

  async #make(): Promise<Target> {
    const cdp = this.#cdp
    const made = { url: 'about:blank', hidden: true, background: true }
    const { targetId } = await cdp.call<{ targetId: string }>('Target.createTarget', made)
    const attach = { targetId, flatten: true }
    const { sessionId } = await cdp.call<{ sessionId: string }>('Target.attachToTarget', attach)
    const target: Target = { cdp, targetId, sessionId, onEvent: () => {} }
    this.#bySession.set(sessionId, target)
    await Promise.all([
      cdp.call('Network.enable', {}, sessionId),
      cdp.call('Fetch.enable', { patterns: BOTH_WAYS, handleAuthRequests: true }, sessionId),
      // Bypasses service workers, so that the site itself answers.
      cdp.call('Network.setBypassServiceWorker', { bypass: true }, sessionId),
    ])
    return target
  }
}
