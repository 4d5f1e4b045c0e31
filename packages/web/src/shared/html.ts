// HTML for pages that the server fills in. Nothing can be left unescaped by accident: every value in a template is
// escaped, unless it is itself the result of a template.

type Value = Html | string | number | false | undefined | readonly Value[]

export class Html {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  toString(): string {
    return this.#text
  }
}

/** Collapses white space of the template itself; where white space matters, pass it in as a value. */
export function html(literals: TemplateStringsArray, ...values: Value[]): Html {
  const [first = '', ...rest] = literals.map((literal) => literal.replaceAll(/\s+/g, ' '))
  return new Html(first + values.map((value, index) => render(value) + rest[index]!).join(''))
}

function render(value: Value): string {
  if (value instanceof Html) return value.toString()
  if (Array.isArray(value)) return value.map(render).join('')
  return value === false || value === undefined ? '' : escape(String(value))
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character]!)
}
