// The frame around the API reference and the guide, and the templates of both.
import { html, Html } from '../shared/html.ts'
import type { RenderedPage } from './markdown.ts'

/** The API reference. Everything else is below it. */
export const DOCS_URL = '/docs'
export const GUIDE_URL = '/docs/guide'

export interface GuidePage extends RenderedPage {
  readonly url: string
  /** Whether it is in the table of contents. */
  readonly isListed: boolean
}

/** A ship in its berth. */
const mark = html`<svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true">
  <path
    d="M4 3v14a4 4 0 0 0 4 4h8a4 4 0 0 0 4-4V3"
    fill="none"
    stroke="currentColor"
    stroke-width="2.4"
    stroke-linecap="round"
  />
  <path
    d="M12 4c2 2.2 2.8 4.3 2.8 6.5V15a1.5 1.5 0 0 1-1.5 1.5h-2.6A1.5 1.5 0 0 1 9.2 15v-4.5C9.2 8.3 10 6.2 12 4z"
    fill="currentColor"
  />
</svg>`

function header(current: 'guide' | 'reference'): Html {
  const item = (name: typeof current, url: string, text: string) =>
    html`<a href="${url}" ${new Html(name === current ? 'aria-current="true"' : '')}>${text}</a>`
  return html`<header class="site">
    <a class="brand" href="${GUIDE_URL}">${mark} Berth</a>
    <nav aria-label="Documentation">
      ${item('guide', GUIDE_URL, 'Guide')} ${item('reference', DOCS_URL, 'API reference')}
    </nav>
  </header>`
}

function page({ title, head, body }: { title: string; head: Html; body: Html }): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <link rel="icon" href="data:," />
        <title>${title}</title>
        ${head}
      </head>
      <body>
        ${body}
      </body>
    </html> `.toString()
}

const stylesheet = (url: string) => html`<link rel="stylesheet" href="${url}" />`

export function referencePage(urls: { style: string; scalar: string; script: string }): string {
  return page({
    title: 'Berth API reference',
    head: html`${stylesheet(urls.style)}
      <script defer src="${urls.scalar}"></script>
      <script defer src="${urls.script}"></script>`,
    body: html`${header('reference')}
      <main id="reference"></main>
      <noscript
        >The API reference needs JavaScript. The same as data: <a href="/openapi.json">OpenAPI</a>.</noscript
      >`,
  })
}

export function guidePage(shown: GuidePage, pages: readonly GuidePage[], style: string): string {
  const listed = pages.filter(({ isListed }) => isListed)
  const place = listed.indexOf(shown)
  const [before, after] = place === -1 ? [] : [listed[place - 1], listed[place + 1]]
  const contents = contentsOf(listed, shown)
  return page({
    title: `${shown.title} – Berth`,
    head: stylesheet(style),
    body: html`<a class="skip" href="#main">Skip to the content</a>
      ${header('guide')}
      <div class="columns">
        <details class="menu">
          <summary>Contents</summary>
          ${contents}
        </details>
        <aside>${contents}</aside>
        <main id="main">
          <article>${shown.body}</article>
          ${
            (before ?? after) &&
            html`<footer>
              ${before && html`<a rel="prev" href="${before.url}">← ${before.title}</a>`}
              ${after && html`<a rel="next" href="${after.url}">${after.title} →</a>`}
            </footer>`
          }
        </main>
      </div>`,
  })
}

function contentsOf(listed: readonly GuidePage[], shown: GuidePage): Html {
  const sections = shown.headings.filter(({ level }) => level === 2)
  return html`<nav aria-label="Contents">
    <ul>
      ${listed.map(
        (each) =>
          html`<li>
            <a href="${each.url}" ${new Html(each === shown ? 'aria-current="page"' : '')}>${each.title}</a>
            ${
              each === shown &&
              sections.length > 0 &&
              html`<ul>
                ${sections.map(({ id, text }) => html`<li><a href="#${id}">${text}</a></li>`)}
              </ul>`
            }
          </li>`,
      )}
    </ul>
  </nav>`
}
