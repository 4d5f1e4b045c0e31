import type { CdpConnection } from './cdp-connection.ts'
import type { FirstPage } from './settle.ts'

export interface Size {
  readonly width: number
  readonly height: number
}

/** Makes viewport and screen of a headless Chromium this large. */
export async function setHeadlessSize(cdp: CdpConnection, page: FirstPage, size: Size): Promise<void> {
  const { targetId, sessionId } = page
  // The screen first: a window cannot outgrow it.
  const { screenInfos } = await cdp.call<{ screenInfos: ({ id: string } & Size)[] }>(
    'Emulation.getScreenInfos',
    {},
    sessionId,
  )
  const screen = screenInfos[0]
  if (screen && (screen.width !== size.width || screen.height !== size.height)) {
    await cdp.call('Emulation.updateScreen', { screenId: screen.id, ...size }, sessionId)
  }
  const { windowId } = await cdp.call<{ windowId: number }>('Browser.getWindowForTarget', { targetId })
  await cdp.call('Browser.setContentsSize', { windowId, ...size })
}
