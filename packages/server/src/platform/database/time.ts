// The database returns times as text, and the API passes it on. Converting each to a Date and back
// took a third of the time of a list.

/** Turns 2026-01-31 12:00:00.5+00, from a connection in UTC, into 2026-01-31T12:00:00.500Z. */
export function readTime(text: string): string {
  const end = text.length - 3
  const isUsual = text.endsWith('+00') && text.charCodeAt(4) === MINUS && end <= 26
  if (!isUsual) return new Date(text).toISOString()
  const milliseconds = text.slice(20, Math.min(end, 23)).padEnd(3, '0')
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${milliseconds}Z`
}

const MINUS = 45
