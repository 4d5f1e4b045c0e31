// A small typed bus: who needs to hear of something subscribes by its name, and who tells of it knows nobody.

export class EventBus<Events extends object> {
  readonly #listeners = new Map<keyof Events, ((event: never) => void)[]>()
  readonly #onError: (error: unknown, name: keyof Events) => void

  /** A listener that throws is reported here, and the others still hear of the event. */
  constructor(options: { onError: (error: unknown, name: keyof Events) => void }) {
    this.#onError = options.onError
  }

  /** Listeners live as long as the bus. They are called in the order in which they subscribed. */
  on<Name extends keyof Events>(name: Name, listener: (event: Events[Name]) => void): void {
    this.#listeners.set(name, [...(this.#listeners.get(name) ?? []), listener])
  }

  emit<Name extends keyof Events>(name: Name, event: Events[Name]): void {
    for (const listener of this.#listeners.get(name) ?? []) {
      try {
        // SAFETY: on() stored it under this name, so it takes this event.
        ;(listener as (event: Events[Name]) => void)(event)
      } catch (error) {
        this.#onError(error, name)
      }
    }
  }
}
