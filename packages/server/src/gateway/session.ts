// What the gateway needs of a session, wherever it runs.
import type { Duplex } from 'node:stream'

export type ClientPurpose = 'cdp' | 'bidi'

export interface GatewaySession {
  /** Fires when the session ends, with its reason. */
  readonly ending: AbortSignal
  /** Keeps it awake and from timing out until disposed. */
  hold(): Disposable
  connect(purpose: ClientPurpose, signal: AbortSignal): Promise<Duplex>
  /** Path of Chromium's browser-wide websocket, another one after each start of Chromium. */
  devtoolsPath(options?: { isKnownWrong?: boolean }): Promise<string>
}

export interface GatewaySessions {
  find(id: string): GatewaySession | undefined | Promise<GatewaySession | undefined>
}
