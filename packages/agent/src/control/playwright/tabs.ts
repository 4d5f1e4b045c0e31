// The tabs of executors, over the agent's own debugging connection: the runners are not needed for them, and cannot keep
// them open.
import type { CdpConnection } from '../../cdp/cdp-connection.ts'
import type { Chromium } from '../../chromium/chromium.ts'
import { ControlError } from '../calls/operation.ts'
import type { Tab } from './conversation.ts'

/** How long a page may take to say that its scripts do not hang. */
const HANGS_MS = 1_000

interface TargetInfo {
  readonly targetId: string
  readonly type: string
  readonly url: string
}

export class Tabs {
  readonly #chromium: Pick<Chromium, 'openCdp'>

  constructor(chromium: Pick<Chromium, 'openCdp'>) {
    this.#chromium = chromium
  }

  /** The tab, or another one if it is gone. It opens in the background, because somebody may watch the one in front. */
  async ensure(known: string | undefined): Promise<Tab> {
    try {
      using cdp = await this.#chromium.openCdp()
      if (known !== undefined && (await pagesOf(cdp)).has(known)) return { target_id: known, created: false }
      const made = { url: 'about:blank', background: true }
      const { targetId } = await cdp.call<TargetInfo>('Target.createTarget', made)
      return { target_id: targetId, created: true }
    } catch (error) {
      const { message } = error as Error
      throw new ControlError('unavailable', `Cannot run code: no tab for it (${message})`, { cause: error })
    }
  }

  /** The address of each open tab. */
  async urls(): Promise<ReadonlyMap<string, string>> {
    using cdp = await this.#chromium.openCdp()
    // Awaited here, because the connection closes with this function.
    return await pagesOf(cdp)
  }

  async close(targetId: string): Promise<void> {
    using cdp = await this.#chromium.openCdp()
    if ((await pagesOf(cdp)).has(targetId)) await cdp.call('Target.closeTarget', { targetId })
  }

  /** Stops a script in the page that hangs: nobody else could connect to it. */
  async free(targetId: string): Promise<void> {
    using cdp = await this.#chromium.openCdp()
    if (!(await pagesOf(cdp)).has(targetId)) return
    const { sessionId } = await cdp.call<{ sessionId: string }>('Target.attachToTarget', {
      targetId,
      flatten: true,
    })
    const answers = () =>
      cdp.call('Runtime.evaluate', { expression: '0' }, sessionId, HANGS_MS).then(
        () => true,
        () => false,
      )
    if (await answers()) return
    cdp.dispatch('Runtime.terminateExecution', {}, sessionId)
    await answers()
  }
}

async function pagesOf(cdp: CdpConnection): Promise<Map<string, string>> {
  const { targetInfos } = await cdp.call<{ targetInfos: TargetInfo[] }>('Target.getTargets')
  return new Map(
    targetInfos.filter(({ type }) => type === 'page').map(({ targetId, url }) => [targetId, url]),
  )
}
