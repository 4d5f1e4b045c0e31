// Keeps secrets out of what a model reads: a model repeats what it reads, and pages may ask it to.

const MASK = '[masked]'

/**
 * Ours and others: three parts of base64url, of which the first is an object. It begins only where a word does: pages
 * choose the text, and one that begins everywhere would take minutes.
 */
const JWT = /(?<![\w-])eyJ[\w-]{8,}\.[\w-]{4,}\.[\w-]{8,}/g
const BEARER = /\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi
/** In addresses and forms. */
const PARAMETER =
  /([?&;#](?:[\w.-]*[_-])?(?:access_?token|id_?token|refresh_?token|token|secret|password|passwd|pwd|api_?key|auth|signature|sig|jwt|otp)=)[^&#;\s"'<>]+/gi
const SECRET_HEADER =
  /^(authorization|proxy-authorization|cookie|set-cookie|x-api-key|x-auth-token|x-csrf-token)$/i
const SECRET_FIELD = /(pass(word|wd|phrase)?|secret|token|api[_-]?key|otp|pin)$/i

export class Secrets {
  readonly #known: readonly string[]

  /** `known`: such as the key of the caller. Very short ones would mask half of every text. */
  constructor(known: readonly string[]) {
    this.#known = known.filter((secret) => secret.length >= 8)
  }

  mask(text: string): string {
    let masked = text
    for (const secret of this.#known) masked = masked.replaceAll(secret, MASK)
    return masked.replaceAll(JWT, MASK).replaceAll(BEARER, `$1 ${MASK}`).replaceAll(PARAMETER, `$1${MASK}`)
  }

  /** Only what is known: for texts that the caller asked for, such as the output of a command. */
  maskKnown(text: string): string {
    let masked = text
    for (const secret of this.#known) masked = masked.replaceAll(secret, MASK)
    return masked
  }
}

/** Headers of requests and answers that pages make. */
export function maskHeaders(headers: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, SECRET_HEADER.test(name) ? MASK : value]),
  )
}

/** Bodies of requests: forms and JSON whose fields are named like secrets. */
export function maskBody(body: string): string {
  return body
    .replaceAll(/((?:^|&)([\w.%[\]-]+)=)([^&]*)/g, (whole, start: string, name: string) =>
      SECRET_FIELD.test(decodeName(name)) ? `${start}${MASK}` : whole,
    )
    .replaceAll(/("([\w.-]+)"\s*:\s*)"(?:[^"\\]|\\.)*"/g, (whole, start: string, name: string) =>
      SECRET_FIELD.test(name) ? `${start}"${MASK}"` : whole,
    )
}

function decodeName(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/**
 * A snapshot of a page shows what is typed into its fields. `typed` are the contents of its password fields; the lines of
 * a snapshot that show one of them no longer do.
 */
export function maskTyped(snapshot: string, typed: readonly string[]): string {
  const shown = new Set(
    typed.flatMap((value) => [value, JSON.stringify(value), `'${value.replaceAll("'", "''")}'`]),
  )
  if (shown.size === 0) return snapshot
  return snapshot
    .split('\n')
    .map((line) => {
      const field = /^(\s*- (?:textbox|searchbox|spinbutton|combobox)\b.*?\]):\s(.*)$/.exec(line)
      return field && shown.has(field[2]!) ? `${field[1]}: ${MASK}` : line
    })
    .join('\n')
}
