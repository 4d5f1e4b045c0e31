// The driver's interface to an instance's egress: a listener on its socket.
import type { EgressRoute } from '../egress/route.ts'
import type { Openings } from '../egress/openings.ts'

export interface Egress {
  /** `id` is that of the instance. */
  listen(socketPath: string, route: EgressRoute, id: string): Promise<EgressListener>
}

export interface EgressListener {
  /** Bytes that the instance has sent and received. */
  readonly traffic: { readonly sent: number; readonly received: number }
  /** The last request that egress refused, and why. */
  readonly lastRefusal: string | undefined
  /** Applies at once, also to open connections. */
  setRoute(route: EgressRoute): void
  /** From now on, it takes part in the share of this project. */
  setProject(projectId: string): void
  open(openings: Openings): void
  close(): Promise<void>
}
