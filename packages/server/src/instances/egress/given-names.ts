// The names whose addresses an instance got. Its programs keep addresses for a while, but a proxy must get names: so this
// finds the name again when the session's route changes to a proxy in that time.

/** Longer than programs keep an address; see name-server.ts of the agent. */
const KEPT_MS = 120_000
const MAX_ADDRESSES = 4_096

interface Given {
  readonly name: string
  readonly at: number
}

export class GivenNames {
  readonly #byAddress = new Map<string, Given>()
  readonly #now: () => number

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  remember(name: string, addresses: readonly string[]): void {
    for (const address of addresses) {
      // Set anew, so that the oldest is first.
      this.#byAddress.delete(address)
      this.#byAddress.set(address, { name, at: this.#now() })
    }
    for (const address of this.#byAddress.keys()) {
      if (this.#byAddress.size <= MAX_ADDRESSES) return
      this.#byAddress.delete(address)
    }
  }

  /** The name that got this address last. */
  nameOf(address: string): string | undefined {
    const given = this.#byAddress.get(address)
    return given && this.#now() - given.at < KEPT_MS ? given.name : undefined
  }
}
