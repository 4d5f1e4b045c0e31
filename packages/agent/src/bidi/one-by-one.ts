/** Where the messages come from. */
interface Source {
  pause(): void
  resume(): void
}

/**
 * Hands over one message in each turn of the event loop. A read from Chromium may hold an answer and the events after
 * it. Handed over at once, the mapper would send the events first, because it awaits its own promises for the answer.
 * Nothing more is read until all are handed over: a page can make messages faster than that.
 */
export function oneByOne(handle: (message: string) => void, source: Source): (message: string) => void {
  const waiting: string[] = []
  const handOver = () => {
    const message = waiting.shift()!
    if (waiting.length > 0) setImmediate(handOver)
    else source.resume()
    handle(message)
  }
  return (message) => {
    waiting.push(message)
    if (waiting.length > 1) return
    source.pause()
    setImmediate(handOver)
  }
}
