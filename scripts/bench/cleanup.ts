// What a run has started and must end, the last thing first, whether it ends well or by Ctrl-C.
type Step = () => unknown

export class Cleanup {
  readonly #steps: Step[] = []
  #closing: Promise<void> | undefined

  /** Named as in node:test, so that the fixtures of the tests take this for their owner. */
  after = (step?: (...args: never[]) => unknown): void => {
    if (!step) return
    this.#steps.push(step)
    // Started while the run was already ending: nobody else would come for it.
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
