// What JSON text costs, before it is parsed.

const QUOTE = 34
const COMMA = 44
const OPENING_LIST = 91
const BACKSLASH = 92
const CLOSING_LIST = 93
const OPENING_OBJECT = 123
const CLOSING_OBJECT = 125

export interface JsonLimits {
  /** JSON.parse accepts a million levels, but recursive code that reads its result does not. */
  readonly maxLevels: number
  /** Lists, objects and what is in them. Each takes time to parse and to check, in which nobody else is served. */
  readonly maxValues: number
}

/** How JSON text is beyond the limits; undefined if it is not. */
export function excessOf(
  text: string,
  { maxLevels, maxValues }: JsonLimits,
): 'levels' | 'values' | undefined {
  // Each level needs two characters, and each value one.
  if (text.length < 2 * maxLevels && text.length < maxValues) return undefined
  let depth = 0
  let values = 0
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at)
        break
      case COMMA:
        values++
        break
      case OPENING_LIST:
      case OPENING_OBJECT:
        if (++depth > maxLevels) return 'levels'
        values++
        break
      case CLOSING_LIST:
      case CLOSING_OBJECT:
        depth--
        break
      default:
    }
    if (values > maxValues) return 'values'
  }
  return undefined
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === BACKSLASH) at++
    else if (code === QUOTE) return at
  }
  return text.length
}
