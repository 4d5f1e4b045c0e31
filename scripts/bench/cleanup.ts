// Ends everything that a run has started, newest first, also after Ctrl-C.
type Step = () => unknown

export class Cleanup {
  readonly #steps: Step[] = []
  #closing: Promise<void> | undefined

  /** Named as in node:test, so that the test fixtures accept this as their owner. */
  after = (step?: (...args: never[]) => unknown): void => {
    if (!step) return
    this.#steps.push(step)
    // It was started while the run was already ending, so nothing else would end it.
    if (this.#closing) this.#closing = this.#closing.then(() => this.#run())
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#run())
  }

  async #run(): Promise<void> {
    const errors: unknown[] = []
    for (let step = this.#steps.pop(); step; step = this.#steps.pop()) {
      try {
        await step()
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, 'Cannot clean up')
  }
}
