// Lists the operations that the published client can call. Reads them from the installed client itself: the source of
// each method of each resource contains its request.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

export interface ClientOperation {
  readonly method: string
  readonly path: string
  /** As a user writes it: `browsers.computer.clickMouse`. */
  readonly call: string
}

export interface PublishedClient {
  readonly version: string
  readonly operations: readonly ClientOperation[]
  /** Methods that make no request of their own, such as one that calls another in a loop. */
  readonly helpers: readonly string[]
}

/** All installed clients, newest first. */
export async function installedClients(): Promise<PublishedClient[]> {
  const { devDependencies } = readJson('package.json') as { devDependencies: Record<string, string> }
  const names = Object.keys(devDependencies).filter((name) =>
    devDependencies[name]!.startsWith('npm:@onkernel/sdk@'),
  )
  const clients = await Promise.all(names.map(readClient))
  return clients.toSorted((a, b) => b.version.localeCompare(a.version, 'en', { numeric: true }))
}

async function readClient(name: string): Promise<PublishedClient> {
  const { version } = readJson(`node_modules/${name}/package.json`) as { version: string }
  const { default: Client } = (await import(name)) as { default: new (options: object) => object }
  const client = new Client({ apiKey: 'unused', baseURL: 'http://unused.invalid' })
  const methods = methodsOf(client, client, '')
  return {
    version,
    operations: methods.flatMap(({ call, source }) =>
      requestsOf(source).map((request) => ({ ...request, call })),
    ),
    helpers: methods.filter(({ source }) => requestsOf(source).length === 0).map(({ call }) => call),
  }
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(join(root, path), 'utf8'))
}

interface ClientMethod {
  readonly call: string
  readonly source: string
}

/** A resource is an object with a reference to the client. It may contain other resources. */
function methodsOf(client: object, owner: object, prefix: string): ClientMethod[] {
  return Object.entries(owner).flatMap(([name, value]: [string, unknown]) => {
    if (typeof value !== 'object' || value === null || Reflect.get(value, '_client') !== client) return []
    const path = `${prefix}${name}.`
    const own = Object.getOwnPropertyDescriptors(Object.getPrototypeOf(value) as object)
    const methods = Object.entries(own).filter(([key]) => key !== 'constructor')
    return [
      ...methods.map(([key, { value: method }]) => ({ call: path + key, source: String(method) })),
      ...methodsOf(client, value, path),
    ]
  })
}

const REQUEST = /\._client\s*\.(get|post|patch|put|delete|getAPIList)\(\s*(?:path\s*)?(['"`])(.+?)\2/g

function requestsOf(source: string): { method: string; path: string }[] {
  return [...source.matchAll(REQUEST)].map(([, verb, , path]) => ({
    method: verb === 'getAPIList' ? 'GET' : verb!.toUpperCase(),
    path: path!.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => `{${snakeCase(name)}}`),
  }))
}

/** `replayID` is `replay_id` in a path. */
function snakeCase(name: string): string {
  return name.replaceAll(/([a-z])([A-Z]+)/g, '$1_$2').toLowerCase()
}
