/** Longer than this, a name that moves would not be followed. */
const MAX_SECONDS = 60
/** An answer with more addresses is used, but not kept. */
const MAX_ADDRESSES = 32

/** Addresses of names for as long as their DNS records allow. The oldest entry makes room for a new one. */
export class AddressCache {
  readonly #entries = new Map<string, { readonly addresses: readonly string[]; readonly expiresAt: number }>()
  readonly #maxNames: number
  readonly #now: () => number

  constructor({ maxNames, now = () => performance.now() }: { maxNames: number; now?: () => number }) {
    this.#maxNames = maxNames
    this.#now = now
  }

  get(name: string): readonly string[] | undefined {
    const entry = this.#entries.get(name)
    if (!entry) return undefined
    if (entry.expiresAt > this.#now()) return entry.addresses
    this.#entries.delete(name)
    return undefined
  }

  put(name: string, addresses: readonly string[], seconds: number): void {
    this.#entries.delete(name)
    if (seconds <= 0 || addresses.length > MAX_ADDRESSES) return
    const [oldest] = this.#entries.keys()
    if (this.#entries.size >= this.#maxNames && oldest !== undefined) this.#entries.delete(oldest)
    this.#entries.set(name, { addresses, expiresAt: this.#now() + Math.min(seconds, MAX_SECONDS) * 1000 })
  }
}
