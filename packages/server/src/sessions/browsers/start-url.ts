// The start URL of a session. Any text is accepted, because the field only records what was requested: what cannot be
// opened is dropped, as every other failure of the first page is.

/** The agent takes this much. */
const MAX_LENGTH = 65_536

/**
 * Chromium's internal pages and the files of the instance are not websites, and a script is not a page. What is not
 * listed is dropped.
 */
const OPENED: readonly string[] = ['http:', 'https:', 'data:', 'chrome-extension:']

/** What the session shows; null for none. PostgreSQL stores neither null characters nor halves of a character. */
export function toStartUrl(text: string | undefined): string | null {
  if (text === undefined || text === '') return null
  return text.slice(0, MAX_LENGTH).replaceAll('\0', '\u{fffd}').toWellFormed()
}

/** The URL that a browser opens; undefined when it opens none. A text of the full length was cut. */
export function openedUrl(text: string | null | undefined): string | undefined {
  if (!text || text.length >= MAX_LENGTH) return undefined
  const url = URL.parse(text)
  // Other about: addresses are aliases of Chromium's internal pages.
  const isOpened = url !== null && (OPENED.includes(url.protocol) || url.href === 'about:blank')
  return isOpened && url.href.length <= MAX_LENGTH ? url.href : undefined
}
