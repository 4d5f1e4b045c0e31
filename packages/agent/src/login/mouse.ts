import type { CdpConnection } from '../cdp/cdp-connection.ts'

const TAKE_MS = 3_000

export interface Point {
  readonly x: number
  readonly y: number
}

/** Clicks at a point of the window. Resolves when the page has handled the click or has navigated. */
export async function clickAt(cdp: CdpConnection, sessionId: string, { x, y }: Point): Promise<void> {
  const send = async (type: string, more: object = {}) => {
    await cdp.call('Input.dispatchMouseEvent', { type, x, y, ...more }, sessionId, TAKE_MS).catch(() => {})
  }
  await send('mouseMoved')
  await send('mousePressed', { button: 'left', buttons: 1, clickCount: 1 })
  await send('mouseReleased', { button: 'left', buttons: 0, clickCount: 1 })
}
