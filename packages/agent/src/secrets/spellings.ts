// The ways in which a page may encode a value when it sends, logs or shows it.

/** Minimum length of the part of a base64 text that depends on the value alone; shorter ones match by chance. */
const MIN_ENCODED_LENGTH = 4
const MIN_SPELLING_LENGTH = 3

export function spellingsOf(value: string): string[] {
  const once = encodeURIComponent(wellFormed(value))
  const encoded = [
    once,
    once.replaceAll('%20', '+'),
    // Form encoding, which also escapes characters that URLs allow.
    new URLSearchParams({ '': wellFormed(value) }).toString().slice(1),
    encodeURI(wellFormed(value)),
    encodeURIComponent(once),
  ]
  const inMarkup = [
    markupOf(value),
    markupOf(value).replaceAll('&#39;', '&#x27;'),
    markupOf(value).replaceAll('&#39;', '&apos;'),
  ]
  const plain = [value, ...encoded, ...encoded.map(withSmallDigits), ...inMarkup, asciiOf(value)]
  // JSON may be nested in JSON.
  const quoted = plain.map(quote)
  const all = [
    ...plain,
    ...quoted,
    ...quoted.map(quote),
    quote(value).replaceAll('/', String.raw`\/`),
    ...base64Of(value),
  ]
  return [...new Set(all.filter((each) => each.length >= MIN_SPELLING_LENGTH))]
}

const quote = (text: string) => JSON.stringify(text).slice(1, -1)

/** A lone surrogate cannot be encoded. */
const wellFormed = (text: string) => text.toWellFormed()

const withSmallDigits = (text: string) => text.replaceAll(/%[0-9A-F]{2}/g, (digits) => digits.toLowerCase())

function markupOf(value: string): string {
  const names: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  }
  return value.replaceAll(/[&<>"']/g, (sign) => names[sign]!)
}

/** JSON escapes for ASCII-only output. */
function asciiOf(value: string): string {
  return quote(value).replaceAll(
    /[^\u0020-\u007e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** The value inside the base64 of a longer text, such as "user:password": there are three possible alignments. */
function base64Of(value: string): string[] {
  const bytes = Buffer.from(value)
  return [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64url')
    // Drops the characters that also encode bits of the neighbouring bytes.
    const sure = text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
    if (sure.length < MIN_ENCODED_LENGTH) return []
    const standard = sure.replaceAll('-', '+').replaceAll('_', '/')
    return [sure, standard, standard.replaceAll('/', String.raw`\/`), encodeURIComponent(standard)]
  })
}
