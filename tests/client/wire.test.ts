// Requests as clients in other languages and newer versions put them on the wire: written from what is known of them,
// byte by byte, and sent to a server with a real browser. The npm client itself is tested beside this file.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { Browser } from '@berth/contracts/browsers'
import { HttpCaller, type Answer } from '../conformance/http-exchange.ts'
import { marker } from '../fixtures/extensions.ts'
import { startServer } from '../fixtures/server.ts'

const owner = { after }
const server = await startServer(owner, { hasRealInstances: true })
const caller = new HttpCaller(owner, server.url)

type Headers = readonly (readonly [string, string])[]

const python = (version: string): Headers => [
  ['Accept', 'application/json'],
  ['User-Agent', `Kernel/Python ${version}`],
  ['X-Stainless-Lang', 'python'],
  ['X-Stainless-Package-Version', version],
  ['X-Stainless-OS', 'Linux'],
  ['X-Stainless-Runtime', 'CPython'],
  ['X-Stainless-Async', 'false'],
  ['X-Stainless-Retry-Count', '0'],
]
const go = (version: string): Headers => [
  ['Accept', 'application/json'],
  ['User-Agent', `Kernel/Go ${version}`],
  ['X-Stainless-Lang', 'go'],
  ['X-Stainless-Package-Version', version],
  ['X-Stainless-Runtime', 'go'],
  ['X-Stainless-Retry-Count', '0'],
]
const cli: Headers = [...go('0.92.0'), ['X-Kernel-Cli-Version', '0.31.0']]
const npm: Headers = [
  ['Accept', 'application/json'],
  ['User-Agent', 'Kernel/JS 0.109.0'],
  ['X-Stainless-Lang', 'js'],
  ['X-Stainless-Package-Version', '0.109.0'],
]
const json: Headers = [['Content-Type', 'application/json']]

interface Example {
  /** Who sends it. */
  readonly by: Headers
  /** The method and the target, as in the first line of the request. */
  readonly line: string
  readonly body?: string
  readonly expected: number
  readonly check?: (answer: Answer) => void
}

function send({ by, line, body }: Pick<Example, 'by' | 'line' | 'body'>): Promise<Answer> {
  const [method, path] = line.split(' ') as [string, string]
  const headers = body === undefined ? by : [...by, ...json]
  return caller.sendAs(server.key, { method, path, headers, body })
}

const created = await send({
  by: cli,
  line: 'POST /browsers',
  body: '{"headless":true,"timeout_seconds":600,"name":"on-the-wire","tags":{"team":"a"}}',
})
assert.equal(created.status, 200, created.text)
const session = created.json as Browser

const field = (name: keyof Browser, expected: unknown) => (answer: Answer) =>
  assert.deepEqual((answer.json as Browser)[name], expected, answer.text)
const items = (expected: number) => (answer: Answer) =>
  assert.equal((answer.json as unknown[]).length, expected, answer.text)
const limitShown = (expected: string) => (answer: Answer) => assert.equal(answer.headers['x-limit'], expected)

const examples: Readonly<Record<string, Example>> = {
  'Python updates with nulls': {
    by: python('0.93.0'),
    line: 'PATCH /browsers/on-the-wire',
    body: '{"name":null,"tags":null,"telemetry":null,"proxy_id":null}',
    expected: 200,
    check: field('tags', { team: 'a' }),
  },
  'a newer npm client opens a page by PATCH': {
    by: npm,
    line: 'PATCH /browsers/on-the-wire',
    body: '{"start_url":"data:text/html,<title>patched</title>"}',
    expected: 200,
    check: field('start_url', 'data:text/html,<title>patched</title>'),
  },
  'the command line lists one app more than it shows': {
    by: cli,
    line: 'GET /apps?limit=101&offset=0',
    expected: 200,
    check: limitShown('100'),
  },
  'the command line lists one deployment more than it shows': {
    by: cli,
    line: 'GET /deployments?limit=101&offset=0',
    expected: 200,
    check: limitShown('100'),
  },
  'the command line lists one profile more than it shows': {
    by: cli,
    line: 'GET /profiles?limit=101&offset=0&query=',
    expected: 200,
    check: limitShown('100'),
  },
  'a list of projects has at most 100': {
    by: cli,
    line: 'GET /org/projects?limit=101',
    expected: 400,
  },
  'a list of invocations has at most 100': {
    by: cli,
    line: 'GET /invocations?limit=101',
    expected: 400,
  },
  'the command line filters by nothing': {
    by: cli,
    line: 'GET /invocations?app_name=&action_name=&version=&status=&since=&deployment_id=&query=&limit=100',
    expected: 200,
    check: items(0),
  },
  'the command line filters deployments by nothing': {
    by: cli,
    line: 'GET /deployments?app_name=&app_version=&query=&limit=21',
    expected: 200,
    check: items(0),
  },
  'the command line follows a deployment since no time': {
    by: cli,
    line: 'GET /deployments/a23456789012345678901234/events?since=',
    expected: 404,
  },
  'Go joins the items of a list by commas': {
    by: go('0.92.0'),
    line: `GET /browsers/${session.session_id}/telemetry/events?category=console%2Cnetwork`,
    expected: 200,
  },
  'the command line repeats the parameter of a list': {
    by: cli,
    line: 'GET /browsers/on-the-wire/telemetry/events?category=console&category=network&order=desc',
    expected: 200,
  },
  'Go and Python put the keys of a map in brackets': {
    by: go('0.92.0'),
    line: 'GET /browsers?tags%5Bteam%5D=nobody&status=active',
    expected: 200,
    check: items(0),
  },
  'Python lists sessions by a name': {
    by: python('0.93.0'),
    line: 'GET /browsers?query=on-the-wire&limit=100',
    expected: 200,
    check: items(1),
  },
  'a log of a program that is not there says so': {
    by: cli,
    line: 'GET /browsers/on-the-wire/logs/stream?source=supervisor&follow=true&supervisor_process=kernel-images-api',
    expected: 200,
  },
}

describe('a request', () => {
  for (const [what, { expected, check, ...example }] of Object.entries(examples)) {
    test(what, async () => {
      const answer = await send(example)
      assert.equal(answer.status, expected, answer.text)
      check?.(answer)
    })
  }
})

const BOUNDARY = 'c9d1b7e6a3f24c5d8e90'

interface FormPart {
  readonly name: string
  readonly content: string | Buffer
  /** Parts of files have one. */
  readonly filename?: string
  readonly type?: string
}

function form(parts: readonly FormPart[]): Buffer {
  const pieces = parts.flatMap(({ name, content, filename, type }) => {
    const file = filename === undefined ? '' : `; filename="${filename}"`
    const kind = type === undefined ? '' : `Content-Type: ${type}\r\n`
    const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n${kind}\r\n`
    return [Buffer.from(head), Buffer.from(content), Buffer.from('\r\n')]
  })
  return Buffer.concat([...pieces, Buffer.from(`--${BOUNDARY}--\r\n`)])
}

async function sendForm(by: Headers, path: string, parts: readonly FormPart[]): Promise<Answer> {
  const headers: Headers = [...by, ['Content-Type', `multipart/form-data; boundary=${BOUNDARY}`]]
  return caller.sendAs(server.key, { method: 'POST', path, headers, body: form(parts) })
}

const octets = { filename: 'anonymous_file', type: 'application/octet-stream' }

describe('an upload of two files', () => {
  const encodings: Readonly<Record<string, readonly FormPart[]>> = {
    'by the Go client': [
      { name: 'files.dest_path', content: '/tmp/by-go/one' },
      { name: 'files.file', content: 'one', ...octets },
      { name: 'files.dest_path', content: '/tmp/by-go/two' },
      { name: 'files.file', content: 'two', ...octets },
    ],
    // The fields come first, then the files.
    'by the Python client': [
      { name: 'files[][dest_path]', content: '/tmp/by-python/one' },
      { name: 'files[][dest_path]', content: '/tmp/by-python/two' },
      { name: 'files[][file]', content: 'one', ...octets },
      { name: 'files[][file]', content: 'two', ...octets },
    ],
    'by the npm client': [
      { name: 'files[0][dest_path]', content: '/tmp/by-npm/one' },
      { name: 'files[0][file]', content: 'one', ...octets },
      { name: 'files[1][dest_path]', content: '/tmp/by-npm/two' },
      { name: 'files[1][file]', content: 'two', ...octets },
    ],
  }
  for (const [who, parts] of Object.entries(encodings)) {
    test(who, async () => {
      const answer = await sendForm(go('0.28.0'), '/browsers/on-the-wire/fs/upload', parts)
      assert.equal(answer.status, 201, answer.text)
      for (const name of ['one', 'two']) {
        const path = `/tmp/${who.replace(/by the (\w+) client/, (_, one: string) => `by-${one.toLowerCase()}`)}/${name}`
        const read = await send({ by: cli, line: `GET /browsers/on-the-wire/fs/read_file?path=${path}` })
        assert.deepEqual([read.status, read.text], [200, name])
      }
    })
  }
})

test('the Go client loads two extensions', async () => {
  const zip = { filename: 'extension.zip', type: 'application/zip' }
  const answer = await sendForm(cli, '/browsers/on-the-wire/extensions', [
    { name: 'extensions.name', content: 'abcdefghijklmnop' },
    { name: 'extensions.zip_file', content: marker('first'), ...zip },
    { name: 'extensions.name', content: 'qrstuvwxyzabcdef' },
    { name: 'extensions.zip_file', content: marker('second'), ...zip },
  ])
  assert.equal(answer.status, 201, answer.text)
})

describe('a deployment', () => {
  const github = { type: 'github', url: 'https://github.invalid/a/b', ref: 'main', entrypoint: 'index.ts' }
  const encodings: Readonly<Record<string, readonly FormPart[]>> = {
    'by the Go client': [
      ...Object.entries(github).map(([name, content]) => ({ name: `source.${name}`, content })),
      { name: 'source.auth.method', content: 'github_token' },
      { name: 'source.auth.token', content: 'ghp_sample' },
      { name: 'env_vars.FIRST', content: '1' },
      { name: 'env_vars.SECOND', content: '2' },
      { name: 'force', content: 'false' },
      { name: 'version', content: 'by-go' },
    ],
    'by the command line': [
      { name: 'version', content: 'by-cli' },
      { name: 'region', content: 'aws.us-east-1a' },
      { name: 'force', content: 'false' },
      { name: 'env_vars[FIRST]', content: '1' },
      { name: 'env_vars[SECOND]', content: '2' },
      { name: 'source', content: JSON.stringify(github), type: 'application/json' },
    ],
    'by the Python client': [
      ...Object.entries(github).map(([name, content]) => ({ name: `source[${name}]`, content })),
      { name: 'env_vars[FIRST]', content: '1' },
      { name: 'env_vars[SECOND]', content: '2' },
      { name: 'version', content: 'by-python' },
    ],
  }
  for (const [who, parts] of Object.entries(encodings)) {
    test(who, async () => {
      const answer = await sendForm(cli, '/deployments', parts)
      assert.equal(answer.status, 201, answer.text)
      const { source_url, env_vars } = answer.json as { source_url: string; env_vars: object }
      assert.equal(source_url, github.url)
      assert.deepEqual(env_vars, { FIRST: '', SECOND: '' })
    })
  }

  test('with one variable in two spellings is refused', async () => {
    const parts = [...encodings['by the Go client']!, { name: 'env_vars[FIRST]', content: '3' }]
    const answer = await sendForm(cli, '/deployments', parts)
    assert.equal(answer.status, 400)
    assert.match(answer.text, /env_vars: has \\"FIRST\\" twice/)
  })
})

/** What a client does with the answer to its request for `offset`: the next offset, or undefined at the end. */
type NextPage = (answer: Answer, count: number) => number | undefined
const header = ({ headers }: Answer) => Number(headers['x-next-offset'])
const sum: NextPage = (answer, count) =>
  answer.headers['x-has-more'] === 'true' ? header(answer) + count : undefined
const absolute: NextPage = (answer) => {
  const { 'x-has-more': hasMore, 'x-next-offset': next } = answer.headers
  assert.ok(hasMore !== undefined && next !== undefined, 'Go needs both')
  assert.equal(hasMore === 'true', next !== '0', 'and they agree')
  return next === '0' ? undefined : Number(next)
}

describe('the pages of a list', () => {
  const readers: readonly (readonly [string, Headers, NextPage])[] = [
    ['Python 0.67', python('0.67.0'), sum],
    ['Python 0.68', python('0.68.0'), absolute],
    ['Python 0.93', python('0.93.0'), absolute],
    ['Go 0.28', go('0.28.0'), absolute],
    ['the command line', cli, absolute],
    ['npm 0.109', npm, absolute],
  ]
  const names = ['wire-1', 'wire-2', 'wire-3', 'wire-4', 'wire-5']

  test('are complete for each client', async () => {
    for (const name of names) {
      const made = await send({ by: cli, line: 'POST /org/projects', body: JSON.stringify({ name }) })
      assert.equal(made.status, 201, made.text)
    }
    for (const [who, by, next] of readers) {
      const seen: string[] = []
      for (let offset: number | undefined = 0; offset !== undefined;) {
        assert.ok(seen.length < 20, `${who} comes to an end`)
        const answer = await send({ by, line: `GET /org/projects?limit=2&offset=${offset}&query=wire-` })
        const page = answer.json as { name: string }[]
        seen.push(...page.map(({ name }) => name))
        offset = next(answer, page.length)
      }
      assert.deepEqual(seen.toSorted(), names, who)
    }
  })
})

test('ids have the form by which the command line tells them from names', async () => {
  const made = [
    session.session_id,
    ...(await Promise.all(
      [
        { line: 'POST /profiles', body: '{"name":"on-the-wire"}' },
        { line: 'POST /proxies', body: '{"type":"custom","config":{"host":"proxy.invalid","port":8080}}' },
        { line: 'POST /browser_pools', body: '{"size":1,"fill_rate_per_minute":0,"headless":true}' },
      ].map(async ({ line, body }) => ((await send({ by: cli, line, body })).json as { id: string }).id),
    )),
    (
      (
        await sendForm(cli, '/extensions', [
          { name: 'name', content: 'abcdefghijklmnopqrstuvwx' },
          { name: 'file', content: marker(), filename: 'a.zip', type: 'application/zip' },
        ])
      ).json as { id: string }
    ).id,
  ]
  for (const id of made) assert.match(id, /^[a-z][a-z0-9]{23}$/)
})

test('an extension whose name looks like an id is found under it', async () => {
  const answer = await send({
    by: cli,
    line: 'POST /browsers',
    body: '{"headless":true,"timeout_seconds":60,"extensions":[{"id":"abcdefghijklmnopqrstuvwx"}]}',
  })
  assert.equal(answer.status, 200, answer.text)
  const { session_id } = answer.json as Browser
  assert.equal((await send({ by: cli, line: `DELETE /browsers/${session_id}` })).status, 204)
  const absent = await send({
    by: cli,
    line: 'POST /browsers',
    body: '{"headless":true,"extensions":[{"id":"bbcdefghijklmnopqrstuvwx"}]}',
  })
  assert.equal(absent.status, 400, absent.text)
})

test('the status has the groups that the command line prints', async () => {
  const { status, json: body } = await caller.send({ method: 'GET', path: '/status', headers: cli })
  assert.equal(status, 200)
  const { status: whole, groups } = body as {
    status: string
    groups: { name: string; status: string; components: { name: string; status: string }[] }[]
  }
  assert.equal(whole, 'operational')
  assert.deepEqual(
    groups.map(({ name, status: each }) => [name, each]),
    [
      ['API', 'operational'],
      ['Browsers', 'operational'],
    ],
  )
  for (const { components } of groups) {
    assert.ok(components.length > 0)
    for (const component of components) assert.equal(component.status, 'operational', component.name)
  }
})

test('the log of an unknown program is one line, and ends', async () => {
  const { status, body } = await server
    .fetch('/browsers/on-the-wire/logs/stream?source=supervisor&supervisor_process=neko')
    .then(async (answer) => ({ status: answer.status, body: await answer.text() }))
  assert.equal(status, 200)
  const events = body.split('\n').filter((line) => line.startsWith('data: '))
  assert.equal(events.length, 1, body)
  assert.match(events[0]!, /no program here is called \\"neko\\"/)
})

test('a session with a profile says whether it saves it, and one without does not', async () => {
  assert.equal('profile_save_changes' in session, false)
  for (const saves of [true, false]) {
    const body = JSON.stringify({
      headless: true,
      timeout_seconds: 60,
      profile: { name: 'on-the-wire', save_changes: saves },
    })
    const made = (await send({ by: python('0.93.0'), line: 'POST /browsers', body })).json as Browser
    assert.equal(made.profile_save_changes, saves)
    const list = await send({ by: python('0.93.0'), line: `GET /browsers?query=${made.session_id}` })
    assert.equal((list.json as Browser[])[0]!.profile_save_changes, saves)
    const ended = await send({ by: python('0.93.0'), line: `DELETE /browsers/${made.session_id}` })
    assert.equal(ended.status, 204)
  }
  // The first of them was saved when its end was answered.
  const download = await send({ by: cli, line: 'GET /profiles/on-the-wire/download?format=tar' })
  assert.equal(download.status, 200)
})

test('the end of a session by its name has no body', async () => {
  const { status, text } = await send({ by: go('0.92.0'), line: 'DELETE /browsers/on-the-wire' })
  assert.deepEqual([status, text], [204, ''])
})
