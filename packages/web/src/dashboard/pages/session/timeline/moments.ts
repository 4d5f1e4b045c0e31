/** The index of the last element that is not later than `ms`; -1 when all are later. They are in order of time. */
export function lastBefore<Element>(
  list: readonly Element[],
  ms: number,
  timeOf: (element: Element) => number,
): number {
  let [low, high] = [0, list.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (timeOf(list[middle]!) <= ms) low = middle + 1
    else high = middle
  }
  return low - 1
}
