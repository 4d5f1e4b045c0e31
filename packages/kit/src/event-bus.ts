// A small typed event bus. Senders do not know their listeners.

export class EventBus<Events extends object> {
  readonly #listeners = new Map<keyof Events, ((event: never) => void)[]>()
  readonly #onError: (error: unknown, name: keyof Events) => void

  /** `onError` gets the error of a listener that throws. The other listeners still get the event. */
  constructor(options: { onError: (error: unknown, name: keyof Events) => void }) {
    this.#onError = options.onError
  }

  /** Listeners stay subscribed as long as the bus exists. They are called in order of subscription. */
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
