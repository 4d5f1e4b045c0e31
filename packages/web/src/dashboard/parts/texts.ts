// What somebody has typed, as a request has it.

/** Words between spaces, lines or commas, without empty ones. */
export const wordsOf = (text: string): string[] => text.split(/[\s,]+/).filter((word) => word !== '')

/** Undefined for an empty field, so that a request leaves it out. */
export const filled = (text: string): string | undefined => (text.trim() === '' ? undefined : text.trim())
