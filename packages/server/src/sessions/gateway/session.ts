// The parts of a session that the gateway needs.
import type { Session } from '../session/session.ts'

export type GatewaySession = Pick<
  Session,
  'ending' | 'hold' | 'connect' | 'preparedClient' | 'devtoolsPath' | 'publish'
>

export interface GatewaySessions {
  findAt(id: string, leaseNumber: number): GatewaySession | undefined | Promise<GatewaySession | undefined>
}
