/** Runs the task for each item, so many at once. When the signal aborts, no further task begins. */
export async function inParallel<Item>(
  items: readonly Item[],
  atOnce: number,
  signal: AbortSignal,
  task: (item: Item) => Promise<void>,
): Promise<void> {
  const left = [...items]
  const work = async () => {
    for (let item = left.shift(); item !== undefined && !signal.aborted; item = left.shift()) await task(item)
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work))
}
