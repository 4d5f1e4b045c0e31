// A harbour office on the web, at which clients do what people do: log in, add a ship by a form, read a table, fetch a
// file. Each login has ships of its own.
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { cleanUpAfter, type Owner } from '../fixtures/cleanup.ts'

export interface Office {
  /** The URL for sessions. */
  readonly url: string
  /** Environment of a server whose sessions reach the office. */
  readonly allow: { readonly BERTH_EGRESS_ALLOW: string }
}

export const CLERK = { name: 'ada', password: 'correct-horse' }
/** What a client adds, and what table and file then are. */
export const NEW_SHIP = { name: 'Endeavour', tons: '368' }
export const SHIPS = ['Beagle 242', 'Fram 402', 'Endeavour 368']
export const CSV = 'ship;tons\nBeagle;242\nFram;402\nEndeavour;368\n'

const page = (title: string, body: string) =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title>
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="description" content="Ships in the harbour"><link rel="icon" href="data:,"></head>
    <body><main><h1>${title}</h1>${body}</main></body></html>`

const loginPage = page(
  'Harbour office',
  `<form action="/login" method="post">
    <p><label>Name <input name="name" autocomplete="username"></label></p>
    <p><label>Password <input name="password" type="password" autocomplete="current-password"></label></p>
    <p><button>Log in</button></p></form>`,
)

const shipsPage = (ships: readonly Ship[]) =>
  page(
    'Ships',
    `<table><thead><tr><th>Ship</th><th>Tons</th></tr></thead><tbody>
    ${ships.map(({ name, tons }) => `<tr><td>${name}</td><td>${tons}</td></tr>`).join('')}</tbody></table>
    <form action="/ships" method="post">
    <p><label>Ship <input name="name"></label> <label>Tons <input name="tons"></label></p>
    <p><button>Add</button></p></form><p><a href="/ships.csv">Table as a file</a></p>`,
  )

interface Ship {
  readonly name: string
  readonly tons: string
}

export async function startOffice(owner: Owner): Promise<Office> {
  const ledgers = new Map<string, Ship[]>()
  const server = createServer((request, response) => {
    const say = (status: number, headers: Record<string, string>, body = '') =>
      void response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', ...headers }).end(body)
    const answer = async () => {
      const ships = ledgers.get(/ledger=([\w-]+)/.exec(request.headers.cookie ?? '')?.[1] ?? '')
      switch (`${request.method} ${request.url}`) {
        case 'GET /':
          return say(200, {}, loginPage)
        case 'POST /login': {
          const form = await formOf(request)
          if (form.get('name') !== CLERK.name || form.get('password') !== CLERK.password)
            return say(303, { location: '/' })
          const id = randomUUID()
          ledgers.set(id, [
            { name: 'Beagle', tons: '242' },
            { name: 'Fram', tons: '402' },
          ])
          return say(303, { location: '/ships', 'set-cookie': `ledger=${id}; HttpOnly` })
        }
      }
      if (!ships) return say(303, { location: '/' })
      switch (`${request.method} ${request.url}`) {
        case 'GET /ships':
          return say(200, {}, shipsPage(ships))
        case 'POST /ships': {
          const form = await formOf(request)
          ships.push({ name: form.get('name') ?? '', tons: form.get('tons') ?? '' })
          return say(303, { location: '/ships' })
        }
        case 'GET /ships.csv': {
          const lines = ships.map(({ name, tons }) => `${name};${tons}\n`)
          const headers = {
            'content-type': 'text/csv',
            'content-disposition': 'attachment; filename="ships.csv"',
          }
          return say(200, headers, `ship;tons\n${lines.join('')}`)
        }
      }
      return say(404, {}, page('Not here', ''))
    }
    answer().catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanUpAfter(owner, async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://host.berth.internal:${port}`,
    allow: { BERTH_EGRESS_ALLOW: `host.berth.internal:${port}` },
  }
}

async function formOf(request: IncomingMessage): Promise<URLSearchParams> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  return new URLSearchParams(text)
}
