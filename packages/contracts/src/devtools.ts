// The pages of a session, and DevTools for them.
import { Type, type Static } from 'typebox'
import { operation } from './operation.ts'
import { idOrName, Open, Timestamp } from './schema.ts'

const DEFAULT_SECONDS = 3600
export const MAX_PAGES = 500
/** Longer titles and addresses are cut off. */
export const MAX_PAGE_TITLE = 500
export const MAX_PAGE_URL = 4096

const pageFields = {
  id: Type.String({ description: 'Id of the page, which is its target in CDP' }),
  title: Type.String({ description: 'Title, as the page says it', maxLength: MAX_PAGE_TITLE }),
  url: Type.String({ description: 'Address of the page', maxLength: MAX_PAGE_URL }),
}

export const BrowserPage = Type.Object(pageFields, { title: 'BrowserPage' })
export type BrowserPage = Static<typeof BrowserPage>

export const DevtoolsPage = Type.Object(
  {
    ...pageFields,
    devtools_url: Type.String({
      description: 'DevTools for this page. Anyone with this URL can use the session',
    }),
  },
  { title: 'DevtoolsPage' },
)

export const DevtoolsLink = Type.Object(
  {
    url: Type.String({
      description: 'DevTools for the page that was asked for. Anyone with this URL can use the session',
    }),
    expires_at: Timestamp('When the link expires; open DevTools are disconnected too'),
    pages: Type.Array(DevtoolsPage, { description: 'All pages of the session', maxItems: MAX_PAGES }),
  },
  { title: 'DevtoolsLink' },
)
export type DevtoolsLink = Static<typeof DevtoolsLink>

export const listBrowserPages = operation({
  id: 'listBrowserPages',
  tag: 'Browsers',
  summary: 'List the pages of a session',
  description:
    'Asks the browser, so it ends standby. The page that was used last comes first. Titles and addresses are texts of the pages.',
  method: 'GET',
  path: '/browsers/{id}/pages',
  params: Type.Object({ id: idOrName('browser session') }),
  status: 200,
  response: Type.Array(BrowserPage, { maxItems: MAX_PAGES, description: `At most ${MAX_PAGES} pages` }),
  errors: ['not_found', 'unavailable'],
})

export const createDevtoolsLink = operation({
  id: 'createDevtoolsLink',
  tag: 'Browsers',
  summary: 'Create a temporary link to DevTools for a page of the session',
  description:
    'DevTools is the front end that the browser of the session carries. It runs in a web page without an origin, so it ' +
    'reaches its session and nothing else. A link works until it expires or its session ends.',
  method: 'POST',
  path: '/browsers/{id}/devtools_links',
  params: Type.Object({ id: idOrName('browser session') }),
  body: Open({
    page_id: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9-]{1,100}$',
        description: 'Page to open, from the list of pages. Without it, the page that was used last',
      }),
    ),
    expires_in_seconds: Type.Optional(
      Type.Integer({
        minimum: 10,
        maximum: 604_800,
        default: DEFAULT_SECONDS,
        description: 'Seconds until the link expires',
      }),
    ),
  }),
  bodyOptional: true,
  effect: 'act',
  waits: true,
  status: 201,
  response: DevtoolsLink,
  errors: ['bad_request', 'not_found', 'unavailable'],
})
