import { randomBytes } from 'node:crypto'

const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyz'

/** Random lower-case letters and digits, without modulo bias. */
export function randomText(length: number, alphabet = ALPHABET): string {
  const limit = 256 - (256 % alphabet.length)
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length * 2)) {
      if (byte < limit && text.length < length) text += alphabet[byte % alphabet.length]
    }
  }
  return text
}

/** A resource id: an optional prefix and 24 characters, starting with a letter. */
export function newId(prefix = ''): string {
  return prefix + randomText(1, ALPHABET.slice(10)) + randomText(23)
}
