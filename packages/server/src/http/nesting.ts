/**
 * Whether a text of JSON has lists or objects in one another to more than that many levels. JSON.parse does not mind
 * a million of them, but whoever walks through what it gives by calling itself does.
 */
export function isNestedDeeper(text: string, most: number): boolean {
  // Each level takes two characters.
  if (text.length < 2 * most) return false
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case '"':
        at = endOfString(text, at)
        break
      case '[':
      case '{':
        if (++depth > most) return true
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
