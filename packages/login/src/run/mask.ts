// Text of a website may repeat what was typed. This module removes our values from it.

const MIN_LENGTH = 3

export function mask(text: string, values: Iterable<string>): string {
  const ours = [...new Set(values)]
    .filter((value) => value.trim().length >= MIN_LENGTH)
    .toSorted((one, other) => other.length - one.length)
  let masked = text
  for (const value of ours) {
    const source = value
      .replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
      .replaceAll(/\s+/g, String.raw`\s+`)
    masked = masked.replaceAll(new RegExp(source, 'giu'), '•••')
  }
  return masked
}

export function holdsAny(text: string, values: Iterable<string>): boolean {
  return mask(text, values) !== text
}
