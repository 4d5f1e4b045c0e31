// How a value may be written where a page sends, logs or shows it.

/** What of a value stands in base64 whatever is around it; less would be found by chance. */
const MIN_ENCODED_LENGTH = 4
const SHORTEST = 3

export function spellingsOf(value: string): string[] {
  const once = encodeURIComponent(wellFormed(value))
  const encoded = [
    once,
    once.replaceAll('%20', '+'),
    // As forms do it, which also encode what addresses may have.
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
  // JSON may be inside of JSON.
  const quoted = plain.map(quote)
  const all = [
    ...plain,
    ...quoted,
    ...quoted.map(quote),
    quote(value).replaceAll('/', String.raw`\/`),
    ...base64Of(value),
  ]
  return [...new Set(all.filter((each) => each.length >= SHORTEST))]
}

const quote = (text: string) => JSON.stringify(text).slice(1, -1)

/** Half of a pair cannot be encoded. */
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

/** As JSON is written by who trusts in ASCII only. */
function asciiOf(value: string): string {
  return quote(value).replaceAll(
    /[^\u0020-\u007e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** As it stands in base64 of something longer, such as a user and a password: there are three ways to begin. */
function base64Of(value: string): string[] {
  const bytes = Buffer.from(value)
  return [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64url')
    // Without the signs that also hold bits of what is around it.
    const sure = text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
    if (sure.length < MIN_ENCODED_LENGTH) return []
    const standard = sure.replaceAll('-', '+').replaceAll('_', '/')
    return [sure, standard, standard.replaceAll('/', String.raw`\/`), encodeURIComponent(standard)]
  })
}
