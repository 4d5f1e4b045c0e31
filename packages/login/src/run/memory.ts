// What a successful login stores for the next one, as JSON in the connection's row. It contains no field values.

/** Identifies a field or button when the page is shown again. */
export interface Fingerprint {
  readonly tag: string
  readonly type: string
  readonly name: string
  readonly id: string
  readonly autocomplete: string
  readonly label: string
}

export interface PlanStep {
  /** Origin and path of the page, without the query. */
  readonly at: string
  readonly frameOrigin: string
  readonly fields: readonly {
    readonly fingerprint: Fingerprint
    readonly ref: string
    readonly kind: string
  }[]
  readonly choice: Fingerprint | undefined
  readonly submit: Fingerprint | undefined
}

export interface Plan {
  readonly version: 1
  readonly steps: readonly PlanStep[]
}

/** How an address looks to signed-in and to signed-out users. */
export interface Checks {
  readonly version: 1
  readonly url: string
  readonly signedIn: Signs
  readonly signedOut: Signs
}

export interface Signs {
  readonly url: string
  readonly status: number | null
  /** Up to five words, labels and field types that only appear in this state. */
  readonly markers: readonly string[]
}
