// Ways to break a valid request. Each notes what it did, and which answers only it explains.
import { badValues } from '../conformance/bad-values.ts'
import { hostileStrings } from '../hostile/hostile-strings.ts'
import type { Random } from '../fixtures/random.ts'
import { encode, type FuzzRequest } from './request.ts'
import type { World } from './world.ts'

interface Means {
  readonly random: Random
  readonly world: World
}

type Mutation = (request: FuzzRequest, means: Means) => void

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE']
const MEDIA_TYPES = [
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'x',
  '',
]
const ODD_VALUES = [null, true, false, 0, -1, 1.5, 1e308, -0, '', [], {}, [[]], { a: { b: [] } }, [null]]
const BROKEN_JSON = [
  '{',
  '}',
  '[',
  '{"a":',
  '{"name":"x"',
  "{'name':1}",
  '{"name":"x",}',
  'nul',
  '\u{feff}{}',
  '\0',
  '//',
]
const RAW_QUERIES = [
  '%',
  '%zz',
  '&&&',
  '=',
  '__proto__=x',
  'limit[]=1',
  'limit[a]=1',
  'a=%00',
  'limit=1&limit=2',
  '?',
  '#',
  'limit=%31',
]
const ODD_PATHS = [
  '',
  '%',
  '%00',
  '%2e%2e',
  '%2F',
  '%c0%ae',
  '..',
  '%ed%a0%80',
  ';x',
  '%20',
  '{id}',
  ':id',
  '*',
]
const PLAIN_HEADERS: [string, string][] = [
  ['Accept', 'application/xml;q=0.1, nonsense'],
  ['Accept-Encoding', 'gzip;q=0'],
  ['Accept-Language', 'x'.repeat(500)],
  ['Range', 'bytes=0-1'],
  ['If-None-Match', '*'],
  ['Content-Encoding', 'identity'],
  ['X-Forwarded-For', '203.0.113.7'],
  ['X-Forwarded-Proto', 'javascript'],
  ['X-HTTP-Method-Override', 'DELETE'],
  ['X-Request-Id', 'x'.repeat(1000)],
  ['Origin', 'https://evil.example'],
  ['Cookie', 'a=b; __proto__=c'],
  ['User-Agent', '\u{ff}\u{80}'],
  ['X-Stainless-Lang', 'js'],
  ['X-Stainless-Package-Version', '0.1.0'],
  ['Connection', 'close'],
  ['Te', 'trailers'],
]

const ofBody: Mutation[] = [
  function wrongValue(request, { random }) {
    const schema = request.operation.body!
    const field = random.pick(Object.keys(schema.properties))
    request.body = {
      ...asFields(request.body),
      [field]: random.pick(badValues(schema.properties[field]!, 'body')),
    }
  },
  function oddValue(request, { random }) {
    const field = random.pick(Object.keys(request.operation.body!.properties))
    request.body = { ...asFields(request.body), [field]: random.pick(ODD_VALUES) }
  },
  function hostileText(request, { random }) {
    const field = random.pick(Object.keys(request.operation.body!.properties))
    request.body = { ...asFields(request.body), [field]: random.pick(hostileStrings) }
  },
  function missingField(request, { random }) {
    const entries = Object.entries(asFields(request.body))
    if (entries.length > 0) entries.splice(random.integer(0, entries.length - 1), 1)
    request.body = Object.fromEntries(entries)
  },
  function extraField(request, { random }) {
    const field = random.pick([
      'extra',
      'id',
      'org_id',
      'constructor',
      'toString',
      '',
      '$set',
      'x'.repeat(300),
    ])
    request.body = { ...asFields(request.body), [field]: random.pick(ODD_VALUES) }
  },
  function prototypeField(request, { random }) {
    const rest = JSON.stringify(asFields(request.body)).slice(1)
    request.rawBody = `{"${random.pick(['__proto__', 'constructor', 'prototype'])}":{"prototype":{}}${rest === '}' ? '' : ','}${rest}`
  },
  function notAnObject(request, { random }) {
    request.body = random.pick(ODD_VALUES)
  },
  function brokenJson(request, { random }) {
    request.rawBody = random.pick(BROKEN_JSON)
  },
  function cutJson(request, { random }) {
    const text = JSON.stringify(asFields(request.body))
    request.rawBody = text.slice(0, random.integer(0, text.length))
  },
  function flippedByte(request, { random }) {
    const bytes = Buffer.from(JSON.stringify(asFields(request.body)))
    bytes[random.integer(0, bytes.length - 1)]! ^= 1 << random.integer(0, 7)
    request.rawBody = bytes
  },
  function repeatedField(request, { random }) {
    const field = random.pick(Object.keys(request.operation.body!.properties))
    request.rawBody = `{"${field}":null,${JSON.stringify({ ...asFields(request.body), [field]: 'x' }).slice(1)}`
  },
  function deepBody(request, { random }) {
    const depth = random.integer(10, 2000)
    request.rawBody = `{"name":${'['.repeat(depth)}${']'.repeat(depth)}}`
  },
  function longText(request, { random }) {
    const field = random.pick(Object.keys(request.operation.body!.properties))
    request.body = { ...asFields(request.body), [field]: 'é'.repeat(random.integer(250, 5000)) }
  },
  function hugeBody(request, { random }) {
    // Rarely, because requests of a megabyte would take most of the time.
    const size = random.chance(0.02) ? 1024 * 1024 + 1 : 20_000
    request.rawBody = JSON.stringify({ name: 'x'.repeat(size) })
  },
  function otherMediaType(request, { random }) {
    request.headers.push(['Content-Type', random.pick(MEDIA_TYPES)])
  },
  function noBody(request) {
    request.body = undefined
    delete request.rawBody
  },
]

const ofQuery: Mutation[] = [
  function wrongParameter(request, { random }) {
    const { name, schema } = random.pick(queryParameters(request))
    setParameter(request, name, String(random.pick(badValues(schema, 'query'))))
  },
  function hostileParameter(request, { random }) {
    setParameter(request, random.pick(queryParameters(request)).name, random.pick(hostileStrings))
  },
  function repeatedParameter(request, { random }) {
    const { name } = random.pick(queryParameters(request))
    request.query.push([name, 'a'], [name, 'b'])
  },
  function missingParameter(request, { random }) {
    if (request.query.length > 0) request.query.splice(random.integer(0, request.query.length - 1), 1)
  },
  function emptyParameter(request, { random }) {
    setParameter(request, random.pick(queryParameters(request)).name, '')
  },
]

const ofPath: Mutation[] = [
  function hostileId(request, { random }) {
    setReference(request, encode(random.pick(hostileStrings)))
  },
  function oddId(request, { random }) {
    setReference(request, random.pick(ODD_PATHS))
  },
  function longId(request, { random }) {
    setReference(request, 'x'.repeat(random.integer(200, 6000)))
  },
  function otherId(request, { random, world }) {
    const other = world.pick(random.pick(['projects', 'api_keys']), random)
    setReference(request, encode(other?.id ?? 'other'))
  },
  function upperCaseId(request) {
    setReference(request, encode((request.reference ?? '').toUpperCase()))
  },
]

const ofAnything: Mutation[] = [
  function otherMethod(request, { random }) {
    request.method = random.pick(METHODS)
  },
  function otherPath(request, { random }) {
    request.path = random.pick([
      `${request.path}/x`,
      `/x${request.path}`,
      `/${request.path}`,
      request.path.toUpperCase(),
      '/',
    ])
    // It leads to the dashboard.
    if (request.path === '/') request.alsoAllowed.add(302)
  },
  function slashAtTheEnd(request) {
    request.path += '/'
  },
  function rawQuery(request, { random }) {
    request.rawQuery = random.pick(RAW_QUERIES)
  },
  function unknownParameter(request, { random }) {
    request.query.push([
      random.pick(['x', '__proto__', 'constructor', 'project_id', '']),
      random.pick(hostileStrings),
    ])
  },
  function oddHeader(request, { random }) {
    request.headers.push(random.pick(PLAIN_HEADERS))
  },
  function manyHeaders(request, { random }) {
    for (let count = random.integer(10, 200); count > 0; count--)
      request.headers.push([`X-Many-${count}`, 'x'])
  },
  function longHeader(request, { random }) {
    request.headers.push(['X-Long', 'x'.repeat(random.integer(1000, 20_000))])
    request.alsoAllowed.add(431)
  },
  function evilHost(request, { random }) {
    request.headers.push(['Host', random.pick(['evil.example', '', '127.0.0.1'])])
    // The right one was sent as well, so now there are two.
    request.alsoAllowed.add(400).add(421)
  },
  function projectHeader(request, { random, world }) {
    const project = world.pick('projects', random)
    const value = random.pick([project?.id, project?.name, 'unknown', '', 'x'.repeat(300)]) ?? 'none'
    const name = random.pick(['X-Kernel-Project-Id', 'X-Kernel-Project'])
    request.headers.push([name, Buffer.from(value).toString('latin1')])
  },
  function disagreeingProjects(request) {
    request.headers.push(['X-Kernel-Project-Id', 'a'], ['X-Kernel-Project', 'b'])
  },
  function oddIdempotencyKey(request, { random, world }) {
    const used = world.usedIdempotencyKey(random) ?? 'x'
    request.headers.push([
      'Idempotency-Key',
      random.pick([used, used, 'two words', 'x'.repeat(256), '\u{ff}', '']),
    ])
  },
  function badKey(request, { random }) {
    const key = request.key ?? ''
    request.key = random.pick([
      '',
      'x',
      `${key}x`,
      key.slice(0, -1),
      key.toUpperCase(),
      'x'.repeat(600),
      '\u{e9}',
    ])
  },
  function noKey(request) {
    request.key = undefined
  },
  function secondKey(request, { random }) {
    request.headers.push(['Authorization', random.pick(['Bearer x', 'Basic x', `Bearer ${request.key}`])])
  },
  function bodyOfNoUse(request, { random }) {
    if (request.operation.body) return
    request.rawBody = random.pick(['{}', '{"a":1}', 'x', '[]', 'x'.repeat(5000)])
    if (random.chance(0.5)) request.headers.push(['Content-Type', random.pick(MEDIA_TYPES)])
  },
]

export function mutate(request: FuzzRequest, means: Means): void {
  const groups = [ofAnything]
  if (request.operation.body) groups.push(ofBody, ofBody)
  if (queryParameters(request).length > 0) groups.push(ofQuery)
  if (request.reference !== undefined) groups.push(ofPath)
  const mutation = means.random.pick(means.random.pick(groups))
  mutation(request, means)
  request.mutations.push(mutation.name)
  // If a HEAD is refused before its method is parsed, the answer has a body, which no client can read.
  if (request.method === 'HEAD' && request.alsoAllowed.has(431)) request.method = 'GET'
}

function asFields(body: unknown): Record<string, unknown> {
  return typeof body === 'object' && body !== null && !Array.isArray(body) ? { ...body } : {}
}

function queryParameters(request: FuzzRequest) {
  return request.operation.parameters.filter((parameter) => parameter.in === 'query')
}

function setParameter(request: FuzzRequest, name: string, value: string): void {
  request.query = [...request.query.filter(([existing]) => existing !== name), [name, value]]
}

function setReference(request: FuzzRequest, encoded: string): void {
  request.path = request.operation.path.replace(/\{\w+\}/, () => encoded)
  request.reference = undefined
}
