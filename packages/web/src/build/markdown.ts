import GithubSlugger from 'github-slugger'
import { Marked, type Tokens } from 'marked'
import { Html, html } from '../shared/html.ts'

export interface Heading {
  readonly id: string
  readonly text: Html
  readonly level: number
}

export interface RenderedPage {
  readonly title: string
  readonly body: Html
  readonly headings: readonly Heading[]
}

/** The address on the server of a link or picture; undefined if the server does not show it. */
export type Resolve = (href: string) => string | undefined

/** Headings get the ids that GitHub gives them, so that a link works in both places. */
export function renderMarkdown(text: string, resolve: Resolve): RenderedPage {
  const slugger = new GithubSlugger()
  const headings: Heading[] = []
  let title = ''
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }: Tokens.Heading) {
        const inner = this.parser.parseInline(tokens)
        const plain = this.parser.parseInline(tokens, this.parser.textRenderer)
        const id = slugger.slug(plain)
        if (depth === 1 && title === '') title = plain
        headings.push({ id, text: new Html(inner), level: depth })
        return `<h${depth} id="${id}">${inner}<a class="anchor" href="#${id}" aria-label="Link to this section">#</a></h${depth}>\n`
      },
      // The text after the language is for the test that runs the documentation.
      code({ text: code, lang = '' }: Tokens.Code) {
        const isOutput = lang.split(' ').includes('output')
        return html`<pre class="${isOutput ? 'output' : ''}"><code>${code}</code></pre>`.toString() + '\n'
      },
      // Comments are only for the tests.
      html({ text: raw }: Tokens.HTML | Tokens.Tag) {
        return raw.trimStart().startsWith('<!--') ? '' : raw
      },
      table(token: Tokens.Table) {
        const row = (cells: Tokens.TableCell[], tag: string) =>
          `<tr>${cells.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join('')}</tr>`
        const head = row(token.header, 'th')
        const body = token.rows.map((cells) => row(cells, 'td')).join('')
        return `<div class="table"><table><thead>${head}</thead><tbody>${body}</tbody></table></div>\n`
      },
      link({ href, tokens }: Tokens.Link) {
        const inner = new Html(this.parser.parseInline(tokens))
        const target = resolve(href)
        if (target === undefined) return inner.toString()
        const isOutside = /^https?:/.test(target)
        return html`<a href="${target}" ${new Html(isOutside ? 'rel="noopener noreferrer"' : '')}
          >${inner}</a
        >`.toString()
      },
      image({ href, text: description }: Tokens.Image) {
        const target = resolve(href)
        return target === undefined ? '' : html`<img src="${target}" alt="${description}" />`.toString()
      },
    },
  })
  const body = new Html(marked.parse(text, { async: false }))
  return { title, body, headings }
}
