/**
 * Whether JSON text nests lists or objects deeper than this many levels. JSON.parse accepts a million levels,
 * but recursive code that reads its result does not.
 */
export function isNestedDeeper(text: string, maxLevels: number): boolean {
  // Each level needs two characters.
  if (text.length < 2 * maxLevels) return false
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case '"':
        at = endOfString(text, at)
        break
      case '[':
      case '{':
        if (++depth > maxLevels) return true
        break
      case ']':
      case '}':
        depth--
        break
      default:
    }
  }
  return false
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '"') return at
  }
  return text.length
}
