// The reference page: one HTML file, computed from the table of operations when the server starts.
// No script and nothing to load, so that it works behind any policy, offline, and in any browser.
import { ErrorBody } from '@berth/contracts/errors'
import { API_VERSION } from '@berth/contracts/openapi'
import type { Method, Operation } from '@berth/contracts/operation'
import { guideSections } from './guide.ts'
import { html, Html, joined } from './html.ts'
import { methodMark, operationSection } from './operation.ts'
import { fieldsOf, namedSchemas, type Schema } from './schema.ts'
import { guideSection, heading } from './section.ts'
import { style } from './style.ts'

export function docsPage(operations: readonly Operation[]): string {
  const guide = guideSections(operations)
  const tags = [...Map.groupBy(operations, ({ tag }) => tag)].map(
    ([tag, rows]) => [tag, inReadingOrder(rows)] as const,
  )
  const schemas = [...namedSchemas([...operations.flatMap(schemasOf), ErrorBody])]
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta
          name="description"
          content="Every operation of this Berth server, with its parameters, answers and errors"
        />
        <title>Berth API reference</title>
        <style>
          ${new Html(style)}
        </style>
      </head>
      <body id="top">
        <a class="skip" href="#main">Skip to the content</a>
        <header class="bar">
          <a class="brand" href="#top">${mark} Berth</a><a class="menu-link" href="#menu">Contents</a>
        </header>
        <nav id="menu" aria-label="Contents">
          <a class="brand" href="#top">${mark} Berth <small>API ${API_VERSION}</small></a>
          <a class="close" href="#closed">Close</a>
          ${navGroup(
            'Guide',
            guide.map(({ id, title }) => navItem(id, html`${title}`)),
          )}
          ${tags.map(([tag, rows]) => navGroup(tag, rows.map(operationItem)))}
          ${navGroup(
            'Objects',
            schemas.map(([name]) => navItem(`schema-${name}`, html`${name}`)),
          )}
        </nav>
        <main id="main">
          <div class="opening">
            <h1>Berth API</h1>
            <p>
              Every operation this server offers, with what it takes, what it answers and how it fails. Also
              as <a href="/openapi.json">OpenAPI 3.1</a>.
            </p>
          </div>
          ${guide.map(guideSection)}
          ${tags.map(
            ([tag, rows]) =>
              html`<h2 class="tag" id="${tagId(tag)}">${tag}</h2>
                ${rows.map(operationSection)}`,
          )}
          <h2 class="tag" id="objects">Objects</h2>
          ${schemas.map(([name, schema]) => schemaSection(name, schema, operations))}
          <footer>Berth, interface version ${API_VERSION}. <a href="#top">Back to the top</a></footer>
        </main>
      </body>
    </html> `
  return page.toString()
}

const METHOD_ORDER: readonly Method[] = ['POST', 'GET', 'PATCH', 'PUT', 'DELETE']

/** By path, and on one path from creating to deleting. */
function inReadingOrder(operations: readonly Operation[]): Operation[] {
  return operations.toSorted((a, b) =>
    a.path === b.path
      ? METHOD_ORDER.indexOf(a.method) - METHOD_ORDER.indexOf(b.method)
      : a.path < b.path
        ? -1
        : 1,
  )
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

function tagId(tag: string): string {
  return `tag-${tag.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`
}

function navGroup(title: string, items: readonly Html[]): Html {
  return html`<p>${title}</p>
    <ul>
      ${items}
    </ul>`
}

function navItem(id: string, text: Html): Html {
  return html`<li><a href="#${id}">${text}</a></li>`
}

function operationItem({ id, method, summary }: Operation): Html {
  // The first clause says which operation it is; the rest is for its section.
  return navItem(id, html`${methodMark(method)}<span>${summary.split(/[;:]/, 1)}</span>`)
}

function schemaSection(name: string, schema: Schema, operations: readonly Operation[]): Html {
  const users = operations.filter((operation) => namedSchemas(schemasOf(operation)).has(name))
  const isSent = users.some(({ body }) => namedSchemas([body]).has(name))
  const links = users.map(({ id }) => html`<a href="#${id}">${id}</a>`)
  return html`<section class="entry object" id="schema-${name}">
    <div class="text">
      <h3>${heading(name, `schema-${name}`)}</h3>
      <p class="used">${users.length > 0 ? ['In ', joined(links, ', ')] : 'In every error'}</p>
      ${fieldsOf(schema, isSent ? 'sent' : 'received')}
    </div>
  </section>`
}

function schemasOf({ params, query, body, response }: Operation): Operation['response'][] {
  return [params, query, body, response]
}
