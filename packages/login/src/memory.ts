// What a success leaves behind for the next time. Kept as JSON in the connection's row; no value of any field is in it.

/** How a field or button was recognised, and is again. */
export interface Fingerprint {
  readonly tag: string
  readonly type: string
  readonly name: string
  readonly id: string
  readonly autocomplete: string
  readonly label: string
}

export interface PlanStep {
  /** Of the page without query: origin and path. */
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

/** How being signed in looks, and being signed out, at an address that tells them apart. */
export interface Checks {
  readonly version: 1
  readonly url: string
  /** Where it leads to, without query, and its status. */
  readonly signedIn: Signs
  readonly signedOut: Signs
}

export interface Signs {
  readonly url: string
  readonly status: number | null
  /** Words, labels and kinds of fields that are there in this state and not in the other; five at most. */
  readonly markers: readonly string[]
}
