// One side of the comparison: where the browsers of the tests come from.
import type { WebSocket } from 'ws'

export interface Arm {
  readonly name: 'bare' | 'berth'
  open(): Promise<OpenBrowser>
}

export interface OpenBrowser {
  readonly cdpUrl: string
  /** Speaks WebDriver BiDi with the client until it leaves. The client is paused until then. */
  serveBidi(client: WebSocket): Promise<void>
  close(): Promise<void>
}
