// A section of the page: text on the left, samples on the right.
import { html, type Html } from './html.ts'

export interface GuideSection {
  readonly id: string
  readonly title: string
  readonly text: Html
  readonly samples: readonly Sample[]
  /** Below both columns, over their whole width. */
  readonly wide?: Html
}

export interface Sample {
  readonly caption: string
  readonly code: string | Html
}

export function guideSection({ id, title, text, samples, wide }: GuideSection): Html {
  return html`<section class="entry" id="${id}">
    <div class="text">
      <h2>${heading(title, id)}</h2>
      ${text}
    </div>
    <div class="sample">${samples.map(sampleFigure)}</div>
    ${wide && html`<div class="wide">${wide}</div>`}
  </section>`
}

export function heading(title: string | Html, id: string): Html {
  return html`${title}<a class="anchor" href="#${id}" aria-label="Link to this section">#</a>`
}

export function sampleFigure({ caption, code }: Sample): Html {
  return html`<figure>
    <figcaption>${caption}</figcaption>
    <pre><code>${code}</code></pre>
  </figure>`
}
