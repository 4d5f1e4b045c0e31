// Chromium answers on its port before its startup is complete. The first attach completes it, so the
// agent attaches first, and clients find a browser that is ready.
import { setTimeout as pause } from 'node:timers/promises'
import type { CdpConnection } from './cdp-connection.ts'

export interface FirstPage {
  readonly targetId: string
  /** The CDP session attached to the page; valid as long as the connection. */
  readonly sessionId: string
}

interface TargetInfo {
  readonly targetId: string
  readonly type: string
}

/** Attaches to the page that clients see first; opens one if there is none after `waitMs`. */
export async function attachToFirstPage(cdp: CdpConnection, waitMs = 0): Promise<FirstPage> {
  const page = await findPage(cdp, waitMs)
  const targetId =
    page?.targetId ?? (await cdp.call<FirstPage>('Target.createTarget', { url: 'about:blank' })).targetId
  const { sessionId } = await cdp.call<FirstPage>('Target.attachToTarget', { targetId, flatten: true })
  return { targetId, sessionId }
}

async function findPage(cdp: CdpConnection, waitMs: number): Promise<TargetInfo | undefined> {
  const deadline = performance.now() + waitMs
  for (;;) {
    const { targetInfos } = await cdp.call<{ targetInfos: TargetInfo[] }>('Target.getTargets')
    const page = targetInfos.find(({ type }) => type === 'page')
    if (page || performance.now() >= deadline) return page
    await pause(LOOK_EVERY_MS)
  }
}

/** Chromium may answer before it opens the pages that it restores. A page opened now would stay beside them. */
const RESTORED_MS = 5_000
const LOOK_EVERY_MS = 20
/** How long to wait for a restored page, which may do anything while it loads. */
const FOREIGN_MS = 2_000

/** Resolves with the version when a page evaluates. */
export async function settle(
  cdp: CdpConnection,
  { hasForeignPages }: { hasForeignPages: boolean },
): Promise<{ version: string; page: FirstPage }> {
  const [{ product }, page] = await Promise.all([
    cdp.call<{ product: string }>('Browser.getVersion'),
    attachToFirstPage(cdp, hasForeignPages ? RESTORED_MS : 0),
  ])
  const evaluate = (answerMs?: number) =>
    cdp.call('Runtime.evaluate', { expression: '1 + 1' }, page.sessionId, answerMs)
  // A restored page may hang, crash or show a dialog; the browser is still ready.
  if (hasForeignPages) await evaluate(FOREIGN_MS).catch(() => {})
  else await evaluate()
  return { version: product.slice(0, 100), page }
}
