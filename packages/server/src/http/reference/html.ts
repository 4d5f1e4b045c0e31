// HTML that cannot be written unescaped by accident: whatever is put into a template is escaped,
// unless it is itself the result of one.

type Part = Html | string | number | false | undefined | readonly Part[]

export class Html {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  toString(): string {
    return this.#text
  }
}

/** Spaces and line ends of the template are the layout of our source; where they matter, pass text in. */
export function html(literals: TemplateStringsArray, ...parts: Part[]): Html {
  const [first = '', ...rest] = literals.map((literal) => literal.replaceAll(/\s+/g, ' '))
  return new Html(first + parts.map((part, index) => render(part) + rest[index]!).join(''))
}

function render(part: Part): string {
  if (part instanceof Html) return part.toString()
  if (Array.isArray(part)) return part.map(render).join('')
  return part === false || part === undefined ? '' : escape(String(part))
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

/** Parts with something between them. */
export function joined(parts: readonly Part[], separator: Part): Part {
  return parts.flatMap((part, index) => (index === 0 ? [part] : [separator, part]))
}

/** A sentence of the contract: what stands between backticks is code. */
export function prose(text: string): Html {
  const pieces = text.split('`')
  return html`${pieces.map((piece, index) => (index % 2 === 1 ? html`<code>${piece}</code>` : piece))}`
}
