// Chromium answers on its port before it is done with starting. The first attach pays for the rest,
// so the agent makes it, and a client finds a browser that is done.
import type { CdpConnection } from './cdp-connection.ts'

export interface FirstPage {
  readonly targetId: string
  /** Of a session attached to the page, for as long as the connection lives. */
  readonly sessionId: string
}

interface TargetInfo {
  readonly targetId: string
  readonly type: string
}

/** The page that a client finds first; made if there is none. */
export async function attachToFirstPage(cdp: CdpConnection): Promise<FirstPage> {
  const { targetInfos } = await cdp.call<{ targetInfos: TargetInfo[] }>('Target.getTargets')
  const page = targetInfos.find(({ type }) => type === 'page')
  const targetId =
    page?.targetId ?? (await cdp.call<FirstPage>('Target.createTarget', { url: 'about:blank' })).targetId
  const { sessionId } = await cdp.call<FirstPage>('Target.attachToTarget', { targetId, flatten: true })
  return { targetId, sessionId }
}

/** What a page that was open before does when it is opened again is its own matter. */
const FOREIGN_MS = 2_000

/** Resolves with the version when a page evaluates. */
export async function settle(
  cdp: CdpConnection,
  { hasForeignPages }: { hasForeignPages: boolean },
): Promise<{ version: string; page: FirstPage }> {
  const [{ product }, page] = await Promise.all([
    cdp.call<{ product: string }>('Browser.getVersion'),
    attachToFirstPage(cdp),
  ])
  const evaluate = (answerMs?: number) =>
    cdp.call('Runtime.evaluate', { expression: '1 + 1' }, page.sessionId, answerMs)
  // One of them may hang, crash, or wait for an answer to a dialog; the browser is there all the same.
  if (hasForeignPages) await evaluate(FOREIGN_MS).catch(() => {})
  else await evaluate()
  return { version: product.slice(0, 100), page }
}
