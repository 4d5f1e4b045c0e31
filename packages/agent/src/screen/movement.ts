// Measures how much has moved on a screen recently.

const WINDOW_MS = 500
/** Smaller changes are many and cheap: a spinner, a cursor that blinks. */
const MIN_SHARE = 0.02
/** From this many changes and this total area on, video is cheaper. */
const MANY = 4
const MUCH = 1
/** Below this, movement has ended. */
const LITTLE = 0.3

export class Movement {
  #changes: { readonly at: number; readonly share: number }[] = []

  /** Reports the share of the screen that has changed; 1 is the whole screen. */
  add(share: number): void {
    if (share >= MIN_SHARE) this.#changes.push({ at: performance.now(), share })
    this.#forget()
  }

  get isMuch(): boolean {
    this.#forget()
    return this.#changes.length >= MANY && this.#sum() >= MUCH
  }

  get isLittle(): boolean {
    this.#forget()
    return this.#sum() < LITTLE
  }

  clear(): void {
    this.#changes = []
  }

  #sum(): number {
    return this.#changes.reduce((sum, { share }) => sum + share, 0)
  }

  #forget(): void {
    const since = performance.now() - WINDOW_MS
    const first = this.#changes.findIndex(({ at }) => at >= since)
    if (first !== 0) this.#changes.splice(0, first === -1 ? this.#changes.length : first)
  }
}
