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
  async hold(known: string | undefined): Promise<HeldTab> {
    let cdp: CdpConnection | undefined
    try {
      cdp = await this.#chromium.openCdp()
      const isOpen = known !== undefined && (await pagesOf(cdp)).has(known)
      const made = { url: 'about:blank', background: true }
      const id = isOpen ? known : (await cdp.call<TargetInfo>('Target.createTarget', made)).targetId
      return await HeldTab.attach(cdp, { target_id: id, created: !isOpen })
    } catch (error) {
      cdp?.close()
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
}

/** A tab while code runs in it. The session is there before, because Chromium gives none to a page that hangs. */
export class HeldTab {
  readonly tab: Tab
  readonly #cdp: CdpConnection
  readonly #sessionId: string

  private constructor(cdp: CdpConnection, tab: Tab, sessionId: string) {
    this.#cdp = cdp
    this.tab = tab
    this.#sessionId = sessionId
  }

  static async attach(cdp: CdpConnection, tab: Tab): Promise<HeldTab> {
    const asked = { targetId: tab.target_id, flatten: true }
    const { sessionId } = await cdp.call<{ sessionId: string }>('Target.attachToTarget', asked)
    const held = new HeldTab(cdp, tab, sessionId)
    // Its page has the session when it answers. One with an open dialog does not, and is used all the same.
    await held.#answers()
    return held
  }

  /** After code was stopped: ends a script that hangs, or else the tab. Nobody else could connect to it. */
  async free(): Promise<void> {
    if (await this.#answers()) return
    this.#cdp.dispatch('Runtime.terminateExecution', {}, this.#sessionId)
    if (await this.#answers()) return
    await this.#cdp.call('Target.closeTarget', { targetId: this.tab.target_id })
  }

  release(): void {
    this.#cdp.close()
  }

  async #answers(): Promise<boolean> {
    try {
      await this.#cdp.call('Runtime.evaluate', { expression: '0' }, this.#sessionId, HANGS_MS)
      return true
    } catch {
      return false
    }
  }
}

async function pagesOf(cdp: CdpConnection): Promise<Map<string, string>> {
  const { targetInfos } = await cdp.call<{ targetInfos: TargetInfo[] }>('Target.getTargets')
  return new Map(
    targetInfos.filter(({ type }) => type === 'page').map(({ targetId, url }) => [targetId, url]),
  )
}
