import type { CdpConnection } from './cdp-connection.ts'
import type { FirstPage } from './settle.ts'

export interface Size {
  readonly width: number
  readonly height: number
}

/** Chromium's minimum; pages see it even if a smaller width is set over the protocol. */
const MIN_WINDOW_WIDTH = 500

/**
 * Sets the viewport size of a headless Chromium. Its window has tabs and an address bar, as with a screen,
 * so it is larger than the viewport; the screen gets the window's size. A page that compares them sees a
 * maximised window, never one larger than its screen.
 */
export async function setHeadlessSize(cdp: CdpConnection, page: FirstPage, size: Size): Promise<void> {
  const { targetId, sessionId } = page
  const [{ windowId }, { screenInfos }] = await Promise.all([
    cdp.call<{ windowId: number }>('Browser.getWindowForTarget', { targetId }),
    cdp.call<{ screenInfos: ({ id: string } & Size)[] }>('Emulation.getScreenInfos', {}, sessionId),
  ])
  await cdp.call('Browser.setContentsSize', { windowId, ...size })
  const { bounds } = await cdp.call<{ bounds: Size }>('Browser.getWindowBounds', { windowId })
  const width = Math.max(bounds.width, MIN_WINDOW_WIDTH)
  const { height } = bounds
  const screen = screenInfos[0]
  if (!screen || (screen.width === width && screen.height === height)) return
  await cdp.call('Emulation.updateScreen', { screenId: screen.id, width, height }, sessionId)
}
