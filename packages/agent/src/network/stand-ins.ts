// Addresses that stand for names inside an instance: for those that a proxy of the session resolves, and those whose
// address must not be known inside. A connection to one goes to egress by name. They are from 240.0.0.0/8, which is
// nobody's, and which Chromium does not take for a local network.

/** More names than pages of one session use at a time. */
const MAX_NAMES = 65_536
const FIRST = 0xf0_00_00_01

export class StandIns {
  readonly #addresses = new Map<string, string>()
  readonly #names = new Map<string, string>()
  #next = 0

  /** The address of a name, always the same while the name is in use. */
  addressOf(name: string): string {
    const known = this.#addresses.get(name)
    if (known !== undefined) {
      // The one that was asked for least lately goes first.
      this.#addresses.delete(name)
      this.#addresses.set(name, known)
      return known
    }
    const address = textOf(FIRST + (this.#next++ % 0xff_ff_fe))
    if (this.#addresses.size === MAX_NAMES) this.#forget(this.#addresses.keys().next().value!)
    this.#addresses.set(name, address)
    this.#names.set(address, name)
    return address
  }

  nameOf(address: string): string | undefined {
    return this.#names.get(address)
  }

  isStandIn(address: string): boolean {
    return address.startsWith('240.')
  }

  #forget(name: string): void {
    this.#names.delete(this.#addresses.get(name)!)
    this.#addresses.delete(name)
  }
}

function textOf(address: number): string {
  return [address >>> 24, (address >>> 16) & 0xff, (address >>> 8) & 0xff, address & 0xff].join('.')
}
