// What the driver needs of the one way out of an instance: somebody who listens on its socket.
import type { EgressRoute } from '../egress/route.ts'
import type { Openings } from '../egress/openings.ts'

export interface Egress {
  listen(socketPath: string, route: EgressRoute): Promise<EgressListener>
}

export interface EgressListener {
  /** Bytes sent and received by the instance so far. */
  readonly traffic: { readonly sent: number; readonly received: number }
  /** What it refused the instance last, and why. */
  readonly lastRefusal: string | undefined
  /** At once, for what is connected as well. */
  setRoute(route: EgressRoute): void
  open(openings: Openings): void
  close(): Promise<void>
}
