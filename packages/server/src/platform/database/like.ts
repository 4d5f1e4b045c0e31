/** A LIKE pattern that matches the literal text anywhere; `%` and `_` in it are escaped. */
export function containing(text: string): string {
  return `%${escapeLike(text)}%`
}

export function startingWith(text: string): string {
  return `${escapeLike(text)}%`
}

function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&')
}
