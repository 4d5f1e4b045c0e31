// Rules of invocations with fake instances: caps, filters, states and access.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  deploy,
  ended,
  follow,
  invoke,
  postDeployment,
  readInvocation,
  settled,
  type Deployment,
  type Invocation,
} from '../fixtures/apps.ts'
import { startServer } from '../fixtures/server.ts'
import { query, send } from '../fixtures/sessions.ts'

const server = await startServer({ after })
const files = { 'index.js': '' }
const deployment = await deploy(server, { files, env: { SECRET: 'a-very-secret-value' } })
const sample = { app_name: 'sample', action_name: 'sample' }

test('a sync invocation is answered at its end, an async one at once', async () => {
  const sync = await invoke(server, { ...sample, payload: '{"a":1}' })
  assert.equal(sync.status, 200)
  assert.equal(sync.body.status, 'succeeded')
  assert.equal(sync.body.output, '"done"')
  const later = await invoke(server, { ...sample, async: true })
  assert.equal(later.status, 202)
  assert.equal(later.body.status, 'queued')
  assert.equal((await ended(server, later.body.id)).status, 'succeeded')
  const { payload, finished_at, started_at } = await readInvocation(server, sync.body.id)
  assert.equal(payload, '{"a":1}')
  assert.ok(finished_at! >= started_at.slice(0, 19))
})

test('errors name what does not exist', async () => {
  const cases: [object, number, RegExp][] = [
    [{ ...sample, app_name: 'nobody' }, 404, /app "nobody" with version "latest"/],
    [{ ...sample, version: 'v9' }, 404, /version "v9"/],
    [{ ...sample, action_name: 'nothing' }, 404, /action "nothing"/],
    [{ ...sample, async_timeout_seconds: 100 }, 400, /async_timeout_seconds/],
    [{ ...sample, async: true, async_timeout_seconds: 9 }, 400, /async_timeout_seconds/],
    [{ ...sample, payload: 'x' }, 400, /payload: must be JSON/],
    [{}, 400, /app_name/],
  ]
  for (const [body, status, message] of cases) {
    const answer = await send(server, 'POST', '/invocations', body)
    assert.equal(answer.status, status, JSON.stringify(body))
    assert.match(answer.body.message ?? '', message)
  }
})

test('unknown fields of an invocation are ignored and named', async () => {
  const answer = await send(server, 'POST', '/invocations', { ...sample, more: 1 })
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('x-berth-ignored'), 'more')
})

test('lists have every filter of the API', async () => {
  const first = (await invoke(server, sample)).body
  const list = async (filter: string) =>
    (await send<Invocation[]>(server, 'GET', `/invocations?limit=100&${filter}`)).body
  const isIn = async (filter: string) => (await list(filter)).some(({ id }) => id === first.id)
  for (const filter of [
    'app_name=sample',
    'version=latest',
    'action_name=sample',
    `deployment_id=${deployment.id}`,
    'status=succeeded',
    'since=5m',
    `since=${encodeURIComponent(new Date(Date.now() - 60_000).toISOString())}`,
    `query=${first.id.slice(3, 12)}`,
  ]) {
    assert.ok(await isIn(filter), filter)
  }
  for (const filter of [
    'app_name=other',
    'version=v1',
    'action_name=other',
    'deployment_id=other',
    'status=failed',
    `since=${encodeURIComponent(new Date(Date.now() + 60_000).toISOString())}`,
    'query=%25',
  ]) {
    assert.ok(!(await isIn(filter)), filter)
  }
  for (const filter of ['since=5y', 'since=-5m', 'since=1e400', 'status=over', 'limit=101', 'offset=-1']) {
    assert.equal((await send(server, 'GET', `/invocations?${filter}`)).status, 400, filter)
  }
})

test('the first end of an invocation counts', async () => {
  const { id } = (await invoke(server, sample)).body
  const again = await send(server, 'PATCH', `/invocations/${id}`, { status: 'succeeded', output: '1' })
  assert.equal(again.status, 200)
  assert.equal((again.body as unknown as Invocation).output, '"done"')
  assert.equal((await send(server, 'PATCH', `/invocations/${id}`, { status: 'failed' })).status, 409)
  assert.equal((await send(server, 'PATCH', `/invocations/${id}`, { status: 'queued' })).status, 400)
  const browser = await send(server, 'POST', '/browsers', { headless: true, invocation_id: id })
  assert.equal(browser.status, 400)
  assert.match(browser.body.message ?? '', /invocation_id: names an invocation that has ended/)
  assert.equal((await send(server, 'POST', '/browsers', { invocation_id: 'nobody' })).status, 400)
  const listed = await send<{ browsers: unknown[] }>(server, 'GET', `/invocations/${id}/browsers`)
  assert.deepEqual(listed.body.browsers, [])
  assert.equal((await send(server, 'DELETE', `/invocations/${id}/browsers`)).status, 204)
})

test('streams replay the past, and end', async () => {
  const { id } = (await invoke(server, sample)).body
  const events = await follow(server, `/invocations/${id}/events`)
  assert.deepEqual(
    events.map(({ event, message, invocation }) => [event, message ?? invocation?.status]),
    [
      ['invocation_state', 'queued'],
      ['invocation_state', 'running'],
      ['log', 'sample'],
      ['invocation_state', 'succeeded'],
    ],
  )
  const since = encodeURIComponent(new Date(Date.now() + 60_000).toISOString())
  const later = await follow(server, `/invocations/${id}/events?since=${since}`)
  assert.deepEqual(
    later.map(({ invocation }) => invocation?.status),
    ['succeeded'],
    'a stream that begins later still tells how it ended',
  )
  assert.equal((await send(server, 'GET', `/invocations/${id}/events?since=soon`)).status, 400)
})

const forms: [what: string, fields: Record<string, string>, message: RegExp][] = [
  ['no source', { version: 'v2' }, /file: must be given, or else source/],
  ['a wrong label', { version: 'a b' }, /version/],
  ['a wrong region', { region: 'here' }, /region/],
  ['a wrong force', { force: 'yes' }, /force/],
  ['a wrong variable', { 'env_vars[A B]': '1' }, /env_vars/],
  ['a source that is not JSON', { source: 'x' }, /source: must be JSON/],
  ['another kind of source', { source: '{"type":"svn"}' }, /source.type/],
  [
    'a source without an address',
    { source: '{"type":"github","ref":"main","entrypoint":"a.js"}' },
    /source.url/,
  ],
  [
    'an option of git as the ref',
    { source: '{"type":"github","url":"https://x.example/y","ref":"--upload-pack=x","entrypoint":"a.js"}' },
    /source.ref/,
  ],
  [
    'a file URL as the address',
    { source: '{"type":"github","url":"file:///etc","ref":"main","entrypoint":"a.js"}' },
    /source.url/,
  ],
  [
    'an entrypoint outside the repository',
    { source: '{"type":"github","url":"https://x.example/y","ref":"main","entrypoint":"../a.js"}' },
    /entrypoint_rel_path/,
  ],
]

test('an invalid form is refused by the name of its field, and leaves nothing', async () => {
  const rows = async () =>
    query<{ deployments: string; blobs: string; keys: string }>(
      server,
      'SELECT (SELECT count(*) FROM deployments) AS deployments, (SELECT count(*) FROM blobs) AS blobs, (SELECT count(*) FROM api_keys) AS keys',
    )
  const before = await rows()
  for (const [what, fields, message] of forms) {
    const form = new FormData()
    for (const [name, value] of Object.entries(fields)) form.set(name, value)
    const response = await server.fetch('/deployments', { method: 'POST', body: form })
    const text = await response.text()
    assert.equal(response.status, 400, `${what}: ${text}`)
    assert.match(text, message, what)
  }
  const unknownFile = new FormData()
  unknownFile.set('image', new Blob(['x']), 'a.png')
  const withFile = await server.fetch('/deployments', { method: 'POST', body: unknownFile })
  assert.equal(withFile.status, 400, 'a file is never ignored')
  for (const entrypoint of ['../index.js', '/etc/passwd', 'a//b.js', '', 'a\\b.js']) {
    const answer = await postDeployment(server, { files, entrypoint })
    assert.equal(answer.status, 400, entrypoint)
  }
  const json = await send(server, 'POST', '/deployments', { version: 'v1' })
  assert.equal(json.status, 400)
  assert.deepEqual(await rows(), before)
})

let newer: string

test('unknown fields of a form and of its source are ignored and named', async () => {
  const form = new FormData()
  const source = {
    type: 'github',
    url: 'https://code.invalid/x',
    ref: 'main',
    entrypoint: 'a.js',
    branch: 'x',
  }
  form.set('source', JSON.stringify(source))
  form.set('version', 'newer')
  form.set('colour', 'teal')
  const response = await server.fetch('/deployments', { method: 'POST', body: form })
  const created = (await response.json()) as Deployment
  assert.equal(response.status, 201, JSON.stringify(created))
  assert.equal(response.headers.get('x-berth-ignored'), 'colour, source%5Bbranch%5D')
  // The fake instance builds it as version "newer" of the sample app.
  await settled(server, created.id)
  newer = created.id
})

test('deployments are listed by app, and variables are never shown', async () => {
  const list = async (filter: string) =>
    (await send<Deployment[]>(server, 'GET', `/deployments?${filter}`)).body.map(({ id }) => id)
  assert.deepEqual(await list('app_name=sample'), [newer, deployment.id])
  assert.deepEqual(await list('app_name=sample&app_version=newer'), [newer])
  assert.deepEqual(await list('app_name=sample&app_version=latest'), [deployment.id])
  assert.deepEqual(await list('app_name=sample&app_version=v1'), [])
  assert.deepEqual(await list(`query=${deployment.id.slice(2, 20)}`), [deployment.id])
  assert.equal((await send(server, 'GET', '/deployments?app_version=latest')).status, 400)
  const all = await (await server.fetch('/deployments')).text()
  assert.ok(!all.includes('a-very-secret-value'))
  const [stored] = await query<{ text: string }>(
    server,
    "SELECT encode(secrets, 'escape') AS text FROM deployments",
  )
  assert.ok(!stored!.text.includes('a-very-secret-value'))
  const keys = await (await server.fetch('/org/api_keys?limit=100')).text()
  assert.ok(!keys.includes(`deployment ${deployment.id}`), 'the key of a deployment is not listed')
})

test('caps are exact under load', async () => {
  const project = (await send<{ id: string }>(server, 'POST', '/org/projects', { name: 'Capped' })).body
  const headers = { 'x-kernel-project-id': project.id }
  await send(server, 'PATCH', `/org/projects/${project.id}/limits`, { max_concurrent_invocations: 3 })
  const form = new FormData()
  form.set('entrypoint_rel_path', 'index.js')
  form.set('file', new Blob(['x']), 'app.zip')
  const posted = await server.fetch('/deployments', { method: 'POST', body: form, headers })
  const { id } = (await posted.json()) as Deployment
  await follow(server, `/deployments/${id}/events`, {
    until: ({ deployment: now }) => now?.status === 'running',
  })
  const answers = await Promise.all(
    Array.from({ length: 50 }, () =>
      send<Invocation>(server, 'POST', '/invocations', { ...sample, async: true }, headers),
    ),
  )
  const accepted = answers.filter(({ status }) => status === 202)
  const refused = answers.filter(({ status }) => status === 429)
  assert.equal(accepted.length + refused.length, 50)
  assert.ok(
    refused.every(
      ({ body, headers: each }) => body.code === 'too_many_invocations' && each.has('retry-after'),
    ),
  )
  const rows = await query<{ most: number }>(
    server,
    `SELECT max(count)::int AS most FROM (
      SELECT (SELECT count(*) FROM invocations AS other
        WHERE other.project_id = one.project_id AND other.created_at <= one.created_at
          AND (other.finished_at IS NULL OR other.finished_at > one.created_at)) AS count
      FROM invocations AS one WHERE one.project_id = $1) AS counts`,
    [project.id],
  )
  assert.ok(rows[0]!.most <= 3, `at most 3 at any moment, and there were ${rows[0]!.most}`)
  assert.ok(accepted.length >= 3)
})

test('deployments that replace each other while they are deleted fail neither a build nor a request', async () => {
  const ids: string[] = []
  const replaceAndDelete = async () => {
    for (let round = 0; round < 20; round++) {
      const { status, body } = await postDeployment(server, { files, version: 'contested', force: true })
      assert.equal(status, 201)
      // The deployment before the last: it runs or is being replaced.
      const earlier = ids.at(-2)
      ids.push(body.id)
      if (earlier) assert.equal((await send(server, 'DELETE', `/deployments/${earlier}`)).status, 204)
    }
  }
  await Promise.all(Array.from({ length: 8 }, replaceAndDelete))
  const reasons = await Promise.all(ids.map(async (id) => (await settled(server, id)).status_reason ?? ''))
  assert.deepEqual(
    reasons.filter((reason) => reason && !/was deleted|Superseded/.test(reason)),
    [],
  )
})
