// What the driver needs of the one way out of an instance: somebody who listens on its socket.
export interface Egress {
  listen(socketPath: string): Promise<EgressListener>
}

export interface EgressListener {
  /** Bytes sent and received by the instance so far. */
  readonly traffic: { readonly sent: number; readonly received: number }
  close(): Promise<void>
}
