// What the gateway needs of a session, wherever it runs.
import type { Session } from '../session/session.ts'

export type GatewaySession = Pick<Session, 'ending' | 'hold' | 'connect' | 'devtoolsPath' | 'publish'>

export interface GatewaySessions {
  findAt(id: string, leaseNumber: number): GatewaySession | undefined | Promise<GatewaySession | undefined>
}
