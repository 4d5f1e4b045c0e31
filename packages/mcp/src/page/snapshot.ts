// Reading only what matters of a large snapshot: what was searched for, with what it is in.

const indentOf = (line: string) => line.length - line.trimStart().length

export interface Found {
  readonly text: string
  readonly matches: number
  readonly shown: number
}

/**
 * The lines that contain the text, each with the elements around it, and what is directly in it. `maxLength` bounds the
 * result; matches that do not fit are counted.
 */
export function searchSnapshot(snapshot: string, search: string, maxLength: number): Found {
  const lines = snapshot.split('\n')
  const indents = lines.map(indentOf)
  const wanted = search.toLowerCase()
  const hits = lines.flatMap((line, index) => (line.toLowerCase().includes(wanted) ? [index] : []))
  const kept = new Set<number>()
  let length = 0
  let shown = 0
  for (const hit of hits) {
    const added = around(indents, hit).filter((index) => !kept.has(index))
    const cost = added.reduce((sum, index) => sum + lines[index]!.length + 1, 0)
    if (shown > 0 && length + cost > maxLength) break
    for (const index of added) kept.add(index)
    length += cost
    shown++
  }
  const text = [...kept]
    .toSorted((one, other) => one - other)
    .map((index) => lines[index])
    .join('\n')
  return { text: text.slice(0, maxLength), matches: hits.length, shown }
}

const MAX_INSIDE = 10

function around(indents: readonly number[], hit: number): number[] {
  const found = [hit]
  let indent = indents[hit]!
  for (let index = hit - 1; index >= 0 && indent > 0; index--) {
    const own = indents[index]!
    if (own >= indent) continue
    found.unshift(index)
    indent = own
  }
  const own = indents[hit]!
  for (let index = hit + 1; index < indents.length && found.length < 40; index++) {
    if (indents[index]! <= own || index - hit > MAX_INSIDE) break
    found.push(index)
  }
  return found
}
