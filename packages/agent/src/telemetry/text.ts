// Cuts texts of pages to the limits of an event.

/** Cuts to a number of UTF-8 bytes, never inside a character. */
export function cut(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text
  const bytes = Buffer.from(text.length > maxBytes ? text.slice(0, maxBytes) : text)
  if (bytes.length <= maxBytes && text.length <= maxBytes) return text
  let end = Math.min(maxBytes, bytes.length)
  // Not between the bytes of one character.
  while (end > 0 && end < bytes.length && (bytes[end]! & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end)
}

/** Cuts texts of one event, and remembers whether it had to. */
export class Cutter {
  isTruncated = false

  cut(text: string, maxBytes: number): string {
    const short = cut(text, maxBytes)
    if (short.length !== text.length) this.isTruncated = true
    return short
  }

  /** Keeps as many entries as fit, for headers and the like. */
  cutMap(map: Readonly<Record<string, unknown>>, maxBytes: number): Record<string, string> {
    const kept: [string, string][] = []
    let left = maxBytes
    for (const [name, value] of Object.entries(map)) {
      const text = typeof value === 'string' ? value : JSON.stringify(value)
      left -= name.length + text.length
      if (left < 0) {
        this.isTruncated = true
        break
      }
      kept.push([name, text])
    }
    return Object.fromEntries(kept)
  }
}
