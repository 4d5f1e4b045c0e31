/**
 * Hands over one message in each turn of the event loop. A read from Chromium may hold an answer and the events after
 * it. Handed over at once, the mapper would send the events first, because it awaits its own promises for the answer.
 */
export function oneByOne(handle: (message: string) => void): (message: string) => void {
  const waiting: string[] = []
  const handOver = () => {
    const message = waiting.shift()!
    if (waiting.length > 0) setImmediate(handOver)
    handle(message)
  }
  return (message) => {
    waiting.push(message)
    if (waiting.length === 1) setImmediate(handOver)
  }
}
