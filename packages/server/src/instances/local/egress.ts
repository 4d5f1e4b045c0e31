// The driver's interface to an instance's egress: a listener on its socket.
import type { EgressRoute } from '../egress/route.ts'
import type { Openings } from '../egress/openings.ts'

/** Connections that wait to be accepted: more than the listener takes at a time, so that it can refuse the rest. */
export const EGRESS_QUEUE = 640

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
  /** Takes a socket that listens in the instance's network, where its connections come out. */
  acceptArrivals(socket: { readonly fd: number }): void | Promise<void>
  close(): Promise<void>
}
