// Texts of pages and sessions, on their way to a model.

/** Of one answer. Several clients refuse answers of more than about 25,000 tokens. */
export const MAX_TEXT = 20_000
export const LARGEST_TEXT = 60_000

/** Characters that nobody sees, with which a page can write to a model behind the back of its reader. */
const INVISIBLE =
  // oxlint-disable-next-line no-control-regex -- these are what it removes
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff0-\ufffb\u{e0000}-\u{e0fff}]/gu

export function visible(text: string): string {
  return text.toWellFormed().replaceAll('\r\n', '\n').replaceAll(INVISIBLE, '')
}

/** Never cuts a character in two. */
export function cut(text: string, start: number, length: number): string {
  return text.slice(start, start + length).toWellFormed()
}

/** `10 of 5,000 characters`. */
export const characters = (count: number) => `${count.toLocaleString('en')} characters`
