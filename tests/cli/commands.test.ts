// The command line against a server with fake instances: output, exit codes, keys, confirmation.
import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { parse } from 'yaml'
import { sharedServer } from '../fixtures/shared-server.ts'
import { createSession, send } from '../fixtures/sessions.ts'
import { berthFor } from './berth.ts'

const owner = { after }
const server = await sharedServer(owner)
const berth = berthFor(owner, server)

const json = async (...args: string[]): Promise<unknown> => {
  const { code, stdout, stderr } = await berth([...args, '-o', 'json'])
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout)
}

const names = (list: unknown) => (list as { name: string }[]).map(({ name }) => name)

/** Each list, and what it needs to show something. */
const lists: readonly { words: readonly string[]; path: string; make?: () => Promise<unknown> }[] = [
  {
    words: ['browsers', 'list'],
    path: '/browsers',
    make: () => createSession(server, { name: 'listed', tags: { a: 'b' } }),
  },
  {
    words: ['pools', 'list'],
    path: '/browser_pools',
    make: () => post('/browser_pools', { size: 1, name: 'cli-pool', fill_rate_per_minute: 0 }),
  },
  { words: ['profiles', 'list'], path: '/profiles', make: () => post('/profiles', { name: 'cli-profile' }) },
  {
    words: ['proxies', 'list'],
    path: '/proxies',
    make: () =>
      post('/proxies', {
        type: 'custom',
        name: 'cli-proxy',
        config: { host: 'proxy.example.com', port: 3128 },
      }),
  },
  { words: ['extensions', 'list'], path: '/extensions' },
  {
    words: ['credentials', 'list'],
    path: '/credentials',
    make: () =>
      post('/credentials', { name: 'cli-cred', domain: 'example.com', values: { username: 'ada' } }),
  },
  { words: ['credential-providers', 'list'], path: '/org/credential_providers' },
  {
    words: ['auth', 'connections', 'list'],
    path: '/auth/connections',
    make: () =>
      post('/auth/connections', { domain: 'example.com', profile_name: 'cli-profile', health_checks: false }),
  },
  { words: ['telemetry', 'destinations', 'list'], path: '/telemetry/destinations' },
  { words: ['projects', 'list'], path: '/org/projects' },
  { words: ['api-keys', 'list'], path: '/org/api_keys' },
  { words: ['app', 'list'], path: '/apps' },
  { words: ['deploy', 'history'], path: '/deployments' },
  { words: ['invoke', 'history'], path: '/invocations' },
  { words: ['audit-logs', 'export', 'list'], path: '/audit-logs/export/destinations' },
]

async function post(path: string, body: object): Promise<void> {
  const answer = await send(server, 'POST', path, body)
  assert.ok(answer.status < 300, JSON.stringify(answer.body))
}

/** What an answer says of time and tokens differs from one to the next. */
const settled = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (name, each: unknown) =>
    /_url$|uptime_ms|available_count|last_used_at/.test(name) ? undefined : each,
  )

test('the JSON of every list is the answer of the API', async () => {
  for (const { words, path, make } of lists) {
    await make?.()
    const shown = await json(...words)
    const answer = await (await server.fetch(path)).json()
    assert.deepEqual(settled(shown), settled(answer), words.join(' '))
    if (make) assert.ok((shown as unknown[]).length > 0, words.join(' '))
  }
})

test('YAML has the same, and a table has a line for each', async () => {
  const shown = await json('profiles', 'list')
  const yaml = await berth(['profiles', 'list', '-o', 'yaml'])
  assert.equal(yaml.code, 0, yaml.stderr)
  assert.deepEqual(parse(yaml.stdout), shown)
  const { stdout } = await berth(['profiles', 'list'])
  const [head, ...rows] = stdout.trimEnd().split('\n')
  assert.match(head!, /^ID +NAME/)
  assert.equal(rows.length, (shown as unknown[]).length)
  assert.ok(!stdout.includes('\u001b'), 'no colours in a pipe')
  const wide = await berth(['profiles', 'list', '-o', 'wide'])
  assert.match(wide.stdout.split('\n')[0]!, /CREATED/)
})

test('pages are asked for by offset, by number, or all at once', async () => {
  for (const name of ['page-1', 'page-2', 'page-3']) await post('/profiles', { name })
  const all = (await json('profiles', 'list', '--all')) as { name: string }[]
  assert.deepEqual(
    names(await json('profiles', 'list', '--limit', '2', '--offset', '1')),
    names(all.slice(1, 3)),
  )
  assert.deepEqual(
    names(await json('profiles', 'list', '--page', '2', '--per-page', '2')),
    names(all.slice(2, 4)),
  )
  const { stderr, stdout } = await berth(['profiles', 'list', '--limit', '1'])
  assert.match(stderr, /There are more: add --offset 1, or --all/)
  assert.doesNotMatch(stdout, /There are more/)
  const quiet = await berth(['profiles', 'list', '--limit', '1', '--quiet'])
  assert.equal(quiet.stderr, '')
})

test('a session is made, changed, found by its name, and ended', async () => {
  const made = (await json(
    'browsers',
    'create',
    '--headless',
    '--name',
    'cli-one',
    '--timeout',
    '120',
    '--tag',
    'a=1',
    '--tag',
    'b=2',
    '--viewport',
    '1024x768',
  )) as Record<string, unknown>
  assert.deepEqual(
    [made['name'], made['headless'], made['timeout_seconds'], made['tags']],
    ['cli-one', true, 120, { a: '1', b: '2' }],
  )
  assert.deepEqual((made['viewport'] as { width: number }).width, 1024)
  const changed = (await json('browsers', 'update', 'cli-one', '--clear-tags', '--clear-name')) as Record<
    string,
    unknown
  >
  assert.equal(changed['name'], undefined)
  const id = made['session_id'] as string
  const gone = await berth(['browsers', 'delete', id])
  assert.deepEqual([gone.code, gone.stdout, gone.stderr], [0, '', `Ended ${id}\n`])
  assert.equal((await berth(['browsers', 'get', id])).code, 4)
})

test('exit codes and errors tell what went wrong, on stderr', async () => {
  const cases: [readonly string[], number, RegExp, Record<string, string>?][] = [
    [['nonsense'], 2, /unknown command 'nonsense'/],
    [['browsers', 'lst'], 2, /Did you mean/],
    [['browsers', 'create', '--timeout', 'soon'], 2, /--timeout.*whole number/s],
    [['browsers', 'create', '--timeout', '-5'], 2, /bad_request: .*timeout_seconds[^]*Request id: /],
    [['browsers', 'list', '-o', 'xml'], 2, /Use one of: table, wide, json, yaml/],
    [['pools', 'create', 'x'], 2, /--size is missing/],
    [['profiles', 'get', 'nobody'], 4, /not_found: [^]*Request id: /],
    [['profiles', 'create', '--name', 'cli-profile'], 5, /already_exists: /],
    [['profiles', 'list'], 3, /unauthorized: [^]*berth login/, { KERNEL_API_KEY: 'sk_wrong' }],
    [['profiles', 'list'], 3, /no API key[^]*berth login/, { KERNEL_API_KEY: '' }],
    [
      ['profiles', 'list'],
      7,
      /Cannot reach the server at http:\/\/127\.0\.0\.1:1: [^]*berth up/,
      { KERNEL_BASE_URL: 'http://127.0.0.1:1' },
    ],
    [['profiles', 'list', '--project', 'nobody'], 4, /project_not_found[^]*berth projects list/],
    [['profiles', 'list', '--context', 'nowhere'], 2, /Cannot find the context "nowhere"/],
    [['profiles', 'delete', 'cli-profile'], 2, /there is no terminal\nSay yes with --yes/],
    [['invoke', 'a', 'b', '--payload', '{'], 2, /it is no JSON/],
  ]
  for (const [args, code, message, env] of cases) {
    const ran = await berth(args, { ...(env && { env }) })
    assert.equal(ran.code, code, `${args.join(' ')}: ${ran.stderr}`)
    assert.match(ran.stderr, message, args.join(' '))
    assert.equal(ran.stdout, '', args.join(' '))
  }
})

test('deleting what is gone is a success, and several are deleted at once', async () => {
  const sessions = await Promise.all([createSession(server), createSession(server)])
  const ids = sessions.map(({ session_id: id }) => id)
  const ran = await berth(['browsers', 'delete', ...ids, 'nobody', '--yes'])
  assert.equal(ran.code, 0, ran.stderr)
  for (const id of ids) assert.match(ran.stderr, new RegExp(`Ended ${id}`))
  assert.match(ran.stderr, /nobody does not exist/)
})

test('login stores a key that the server knows, and no other', async () => {
  const own = berthFor(owner)
  const wrong = await own(['login', server.url], { stdin: 'sk_wrong\n' })
  assert.equal(wrong.code, 3, wrong.stderr)
  assert.match(wrong.stderr, /does not know this key[^]*Nothing was stored/)
  const right = await own(['login', server.url, '--name', 'here'], { stdin: `${server.key}\n` })
  assert.equal(right.code, 0, right.stderr)
  const file = join(own.home, '.config/berth/contexts.json')
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.ok(!right.stderr.includes(server.key) && !right.stdout.includes(server.key))
  const list = await own(['context', 'list', '-o', 'json'])
  assert.deepEqual(JSON.parse(list.stdout)[0].name, 'here')
  assert.ok(!list.stdout.includes(server.key), 'a list shows no key')
  assert.equal((await own(['projects', 'list'])).code, 0)
  const added = await own(['context', 'add', 'again', server.url, '--default-project', 'Default'], {
    stdin: server.key,
  })
  assert.equal(added.code, 0, added.stderr)
  assert.equal((await own(['projects', 'list', '--context', 'again'])).code, 0)
  assert.equal((await own(['context', 'use', 'again'])).code, 0)
  assert.equal((await own(['context'])).stdout, 'again\n')
  assert.equal((await own(['logout', 'here'])).code, 0)
  assert.ok(!readFileSync(file, 'utf8').includes('"here": {\n      "url": "x"'))
  assert.equal((await own(['projects', 'list', '--context', 'here'])).code, 3)
  assert.equal((await own(['context', 'delete', 'again', '--yes'])).code, 0)
})

test('a key is never taken from the arguments', async () => {
  const { code } = await berth(['login', server.url, server.key])
  assert.equal(code, 2)
})

test('stdin and files are bodies, and any request can be sent', async () => {
  const made = await berth(['credentials', 'create', '--body', '-', '-o', 'json'], {
    stdin: JSON.stringify({ name: 'from-stdin', domain: 'example.com', values: { password: 'secret-1' } }),
  })
  assert.equal(made.code, 0, made.stderr)
  assert.ok(!made.stdout.includes('secret-1'))
  const sent = await berth(['api', 'GET', '/credentials/from-stdin'])
  assert.equal((JSON.parse(sent.stdout) as { name: string }).name, 'from-stdin')
  const included = await berth(['api', 'get', '/org/projects?limit=1', '--include'])
  assert.match(included.stderr, /^200\n[^]*x-request-id: /)
})

test('the state of the server needs no key', async () => {
  const ran = await berth(['status'], { env: { KERNEL_API_KEY: '' } })
  assert.equal(ran.code, 0, ran.stderr)
  assert.match(ran.stdout, /operational/)
  const state = JSON.parse((await berth(['status', '-o', 'json'])).stdout) as { status: string }
  assert.equal(typeof state.status, 'string')
})

test('completions name what there is', async () => {
  const { stdout } = await berth(['__complete', 'profiles', 'get', 'cli-'])
  assert.match(stdout, /^cli-profile\t/m)
  const sessions = await berth(['__complete', 'browsers', 'fs', 'list-files', 'list'])
  assert.match(sessions.stdout, /^listed\t/m)
})

test('a project is chosen by a flag or the environment', async () => {
  await berth(['projects', 'create', 'cli-project'])
  await berth(['profiles', 'create', '--name', 'only-there', '--project', 'cli-project'])
  assert.deepEqual(names(await json('profiles', 'list', '--all', '--project', 'cli-project')), ['only-there'])
  assert.ok(!names(await json('profiles', 'list', '--all', '--project', 'Default')).includes('only-there'))
  const env = await berth(['profiles', 'list', '-o', 'json'], { env: { KERNEL_PROJECT: 'cli-project' } })
  assert.deepEqual(
    (JSON.parse(env.stdout) as { name: string }[]).map(({ name }) => name),
    ['only-there'],
  )
})
