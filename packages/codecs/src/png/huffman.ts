// Code lengths and codes for one block of deflate: https://www.rfc-editor.org/rfc/rfc1951#section-3.2

/** The optimal code lengths for these frequencies, at most `longest` bits each. */
export function codeLengths(frequencies: Uint32Array, longest: number): Uint8Array {
  const lengths = new Uint8Array(frequencies.length)
  const used: number[] = []
  for (let symbol = 0; symbol < frequencies.length; symbol++) if (frequencies[symbol]! > 0) used.push(symbol)
  if (used.length === 0) return lengths
  if (used.length === 1) {
    lengths[used[0]!] = 1
    return lengths
  }
  used.sort((one, other) => frequencies[one]! - frequencies[other]!)
  const counts = limited(depthCounts(used.map((symbol) => frequencies[symbol]!)), longest)
  // The rarest symbols get the longest codes.
  let next = 0
  for (let length = longest; length > 0; length--) {
    for (let count = counts[length]!; count > 0; count--) lengths[used[next++]!] = length
  }
  return lengths
}

/** The number of leaves at each depth of the tree. The weights must be in ascending order. */
function depthCounts(weights: number[]): number[] {
  const leaves = weights.length
  const parents = new Int32Array(2 * leaves - 1)
  const sums = [...weights]
  // Leaves and sums are both in ascending order, so the smallest weight is at the head of one of them.
  let leaf = 0
  let sum = leaves
  for (let node = leaves; node < 2 * leaves - 1; node++) {
    let weight = 0
    for (let child = 0; child < 2; child++) {
      const takesLeaf = leaf < leaves && (sum >= node || sums[leaf]! <= sums[sum]!)
      const least = takesLeaf ? leaf++ : sum++
      parents[least] = node
      weight += sums[least]!
    }
    sums.push(weight)
  }
  const depths = new Int32Array(2 * leaves - 1)
  const counts: number[] = []
  for (let node = 2 * leaves - 3; node >= 0; node--) {
    const depth = depths[parents[node]!]! + 1
    depths[node] = depth
    if (node < leaves) counts[depth] = (counts[depth] ?? 0) + 1
  }
  return counts
}

/** Shortens codes that are too long to the limit, and makes others longer, so that all codes stay distinct. */
function limited(counts: number[], longest: number): number[] {
  const limit = Array.from({ length: longest + 1 }, (_none, length) => counts[length] ?? 0)
  for (let length = longest + 1; length < counts.length; length++) limit[longest]! += counts[length] ?? 0
  let taken = 0
  for (let length = 1; length <= longest; length++) taken += limit[length]! << (longest - length)
  const room = 1 << longest
  while (taken > room) {
    limit[longest]!--
    for (let length = longest - 1; length > 0; length--) {
      if (limit[length] === 0) continue
      limit[length]!--
      limit[length + 1]! += 2
      break
    }
    taken--
  }
  return limit
}

/** The codes for these lengths, with their bits reversed: deflate sends the highest bit first. */
export function codesOf(lengths: Uint8Array): Uint16Array {
  const counts = new Uint16Array(16)
  for (const length of lengths) counts[length]!++
  counts[0] = 0
  const next = new Uint16Array(16)
  for (let length = 1, code = 0; length < 16; length++) {
    code = (code + counts[length - 1]!) << 1
    next[length] = code
  }
  return Uint16Array.from(lengths, (length) => (length === 0 ? 0 : reversed(next[length]!++, length)))
}

function reversed(code: number, length: number): number {
  let result = 0
  for (let bit = 0; bit < length; bit++) result |= ((code >> bit) & 1) << (length - 1 - bit)
  return result
}
