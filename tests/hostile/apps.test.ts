// Hostile code in an app ends only its own invocation, with the reason.
import assert from 'node:assert/strict'
import { after, afterEach, test } from 'node:test'
import { deploy, ended, follow, invoke, tinyApp } from '../fixtures/apps.ts'
import { allProcesses } from '../fixtures/host.ts'
import { packageOf, startRegistry } from '../fixtures/npm-registry.ts'
import { startServer, tempDir } from '../fixtures/server.ts'
import { query, send } from '../fixtures/sessions.ts'
import { ownAddresses, startCanaries } from './host-canaries.ts'

const owner = { after }
const canaries = await startCanaries(owner)
const spy = packageOf(
  {
    name: 'spy',
    version: '1.0.0',
    type: 'module',
    main: 'index.js',
    scripts: { postinstall: 'node look.js' },
  },
  {
    'index.js':
      "import { readFileSync } from 'node:fs'\nexport const seen = readFileSync(new URL('seen.json', import.meta.url), 'utf8')\n",
    'look.js': `import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
const read = (path) => { try { return readFileSync(path, 'utf8') } catch (error) { return String(error.code) } }
const environments = readdirSync('/proc').filter((name) => /^\\d+$/.test(name)).map((pid) => read('/proc/' + pid + '/environ')).join('')
const dial = (host) => new Promise((resolve) => {
  const socket = connect({ host, port: ${canaries.port} })
  socket.on('data', (data) => resolve(String(data))).on('error', (error) => resolve(error.code)).setTimeout(2000, () => resolve('silence'))
})
const seen = { file: read(${JSON.stringify(canaries.file)}), environments, dialled: await Promise.all(${JSON.stringify(['127.0.0.1', ...ownAddresses().map((each) => each.replace(/[[\]]/g, ''))])}.map(dial)) }
writeFileSync(new URL('seen.json', import.meta.url), JSON.stringify(seen))
`,
  },
  tempDir(owner),
)
const registry = await startRegistry(owner, [spy])
const server = await startServer(owner, {
  hasRealInstances: true,
  env: { ...registry.setting, ...canaries.environment, BERTH_APP_INVOCATION_MEMORY_MB: '128' },
})

/** No other test sleeps for so long, so its processes can be told apart while other files run. */
const SLEEP_SECONDS = 1009

const actions = {
  well: '(context) => "well"',
  slow: '(context) => new Promise((resolve) => setTimeout(() => resolve("done"), 8000))',
  loop: '(context) => { for (;;); }',
  flood: '(context) => { const line = "x".repeat(1000) + "\\n"; for (;;) process.stdout.write(line) }',
  long: '(context) => { console.log("y".repeat(200_000)); console.log("after") ; return 1 }',
  heap: '(context) => { const all = []; for (;;) all.push({ text: "z".repeat(1000) + Math.random() }) }',
  buffers: '(context) => { const all = []; for (;;) all.push(Buffer.alloc(50_000_000, 1)) }',
  exit: '(context) => process.exit(0)',
  crash: '(context) => { setTimeout(() => { throw new Error("later") }); return new Promise(() => {}) }',
  kill: `(context) => { try { process.kill(-1, 'SIGKILL') } catch {} ; return new Promise((resolve) => setTimeout(() => resolve('alive'), 500)) }`,
  children: `async (context) => {
    const { spawn } = await import('node:child_process')
    for (let index = 0; index < 20; index++) spawn('sleep', ['${SLEEP_SECONDS}'], { detached: true, stdio: 'ignore' }).unref()
    return 'left some'
  }`,
  forks: `async (context) => {
    const { spawn } = await import('node:child_process')
    let failures = 0
    for (let index = 0; index < 2000; index++) { try { spawn('sleep', ['${SLEEP_SECONDS}']).on('error', () => failures++) } catch { failures++ } }
    await new Promise((resolve) => setTimeout(resolve, 1000))
    return failures
  }`,
  sockets: `async (context) => {
    const { connect } = await import('node:net')
    let failures = 0
    for (let index = 0; index < 10_000; index++) connect(1, '127.0.0.1').on('error', () => failures++)
    await new Promise((resolve) => setTimeout(resolve, 2000))
    return failures
  }`,
  frames: `async (context) => {
    const { writeSync } = await import('node:fs')
    writeSync(3, Buffer.from([4, 0xff, 0xff, 0xff, 0xff, 1, 2, 3]))
    return new Promise(() => {})
  }`,
  forge: `async (context) => {
    const { appendFileSync, chmodSync, closeSync, openSync, readdirSync, readlinkSync, renameSync, writeFileSync } = await import('node:fs')
    const done = []
    const attempt = (what, act) => { try { act(); done.push(what) } catch {} }
    const home = '/home/kernel', app = home + '/app'
    for (const file of [app + '/index.js', app + '/package.json', '/tmp/berth-app-runner.mjs', home + '/.berth-app-runner.mjs', home + '/.berth-app-runner.py']) {
      attempt('change ' + file, () => appendFileSync(file, ' ', { flag: 'r+' }))
      attempt('replace ' + file, () => renameSync(file, file + '.old'))
    }
    for (const file of [app + '/.env', app + '/json.py', app + '/node_modules/x.js', home + '/x']) attempt('make ' + file, () => writeFileSync(file, ''))
    attempt('move', () => renameSync(app, home + '/other'))
    attempt('open', () => chmodSync(app, 0o777))
    for (const pid of readdirSync('/proc').filter((name) => /^\\d+$/.test(name))) {
      let isOurs = false
      try { isOurs = readlinkSync('/proc/' + pid + '/ns/user') === readlinkSync('/proc/self/ns/user') } catch {}
      if (isOurs) continue
      for (const file of ['environ', 'mem', 'fd/3']) attempt(file + ' of ' + pid, () => closeSync(openSync('/proc/' + pid + '/' + file)))
    }
    writeFileSync('/tmp/forged', 'x')
    writeFileSync(process.env.HOME + '/forged', 'x')
    return done
  }`,
  circular: '(context) => { const one = {}; one.one = one; return one }',
  huge: '(context) => "h".repeat(6_000_000)',
  injected: '(context) => { console.log("one\\r\\ndata: {}\\n\\ndata: {\\"event\\":\\"log\\"}"); return 1 }',
}

await deploy(server, { files: tinyApp('hostile', actions) })
const call = async (action_name: string) => (await invoke(server, { app_name: 'hostile', action_name })).body

afterEach(async () => {
  const { output, status_reason } = await call('well')
  assert.equal(output, '"well"', `another invocation right after: ${status_reason}`)
})

test('floods, crashes, exits and lack of memory end their own invocation, with the reason', async () => {
  const neighbour = invoke(server, { app_name: 'hostile', action_name: 'slow' })
  const reasons: [string, RegExp][] = [
    ['flood', /^It printed more than 16 MB/],
    ['heap', /out of memory/],
    ['buffers', /memory|allocation failed/i],
    ['exit', /ended with code 0 before the action did/],
    ['crash', /^Error: later$/],
    ['frames', /It wrote where only its runner may/],
    ['circular', /circular/i],
    ['huge', /The result has 6000002 bytes/],
  ]
  for (const [action, reason] of reasons) {
    const { status, status_reason, output } = await call(action)
    assert.equal(status, 'failed', action)
    assert.match(status_reason ?? '', reason, action)
    assert.deepEqual(JSON.parse(output ?? 'null'), { error: status_reason })
  }
  assert.equal((await neighbour).body.output, '"done"', 'one beside them noticed nothing')
})

test('an invocation can neither read nor change another, nor what the next one runs', async () => {
  const neighbour = invoke(server, { app_name: 'hostile', action_name: 'slow' })
  const { output, status_reason } = await call('forge')
  assert.deepEqual(JSON.parse(output ?? 'null'), [], status_reason ?? undefined)
  assert.equal((await neighbour).body.output, '"done"')
})

test('an endless loop ends at its timeout or when it is canceled', async () => {
  const options = { app_name: 'hostile', action_name: 'loop', async: true, async_timeout_seconds: 10 }
  const [timed, cancelled] = await Promise.all([invoke(server, options), invoke(server, options)])
  assert.equal(timed.status, 202)
  const answer = await send(server, 'PATCH', `/invocations/${cancelled.body.id}`, { status: 'failed' })
  assert.equal(answer.status, 200)
  const { status_reason } = await ended(server, timed.body.id)
  assert.equal(status_reason, 'It took longer than 10 s and was ended')
  assert.equal((await ended(server, cancelled.body.id)).status_reason, 'It was cancelled')
})

test('kill(-1), many children, forks and sockets stay in their namespace and limits', async () => {
  const neighbour = invoke(server, { app_name: 'hostile', action_name: 'slow' })
  assert.equal((await call('kill')).output, '"alive"')
  assert.equal((await call('children')).output, '"left some"')
  assert.ok(Number((await call('forks')).output) > 1000, 'most forks are refused')
  assert.ok(Number((await call('sockets')).output) > 5000, 'most sockets are refused')
  assert.equal((await neighbour).body.output, '"done"')
  const sleepers = allProcesses().filter(({ command }) => command === `sleep ${SLEEP_SECONDS}`)
  assert.deepEqual(sleepers, [], 'what it started ended with it')
})

test('log lines are cut at 64 KiB, stay in order, and cannot fake events', async () => {
  const long = await call('long')
  const events = await follow(server, `/invocations/${long.id}/events`)
  const lines = events.flatMap(({ message }) => message ?? [])
  assert.equal(lines.length, 2)
  assert.match(lines[0]!, /^y{65536} \[berth: 134464 more bytes of this line are left out\]$/)
  assert.equal(lines[1], 'after')
  const injected = await call('injected')
  const seen = await follow(server, `/invocations/${injected.id}/events`)
  assert.deepEqual(
    seen.flatMap(({ message }) => message ?? []),
    ['one', 'data: {}', '', 'data: {"event":"log"}'],
  )
})

test('a cap of 3 accepts exactly 3 of 50, and one more for each that ends', async () => {
  const limits = '/org/projects/Default/limits'
  await send(server, 'PATCH', limits, { max_concurrent_invocations: 3 })
  const waiting = { app_name: 'hostile', action_name: 'loop', async: true, async_timeout_seconds: 60 }
  const answers = await Promise.all(Array.from({ length: 50 }, () => invoke(server, waiting)))
  const taken = answers.filter(({ status }) => status === 202).map(({ body }) => body.id)
  assert.equal(taken.length, 3)
  assert.ok(answers.every(({ status, body }) => status === 202 || body.code === 'too_many_invocations'))
  await send(server, 'PATCH', `/invocations/${taken[0]}`, { status: 'failed' })
  const more = await Promise.all(Array.from({ length: 10 }, () => invoke(server, waiting)))
  const last = more.filter(({ status }) => status === 202).map(({ body }) => body.id)
  assert.equal(last.length, 1)
  for (const id of [...taken, ...last])
    await send(server, 'PATCH', `/invocations/${id}`, { status: 'failed' })
  await send(server, 'PATCH', limits, { max_concurrent_invocations: 0 })
})

test('invalid payloads are refused before anything runs', async () => {
  const [{ count: before }] = (await query<{ count: string }>(
    server,
    'SELECT count(*) FROM invocations',
  )) as [{ count: string }]
  const bad: [string, number][] = [
    ['not json', 400],
    ['', 400],
    ['{"a":1', 400],
    ['['.repeat(100_000) + ']'.repeat(100_000), 400],
    ['1e400', 400],
    ['"\\ud800"', 400],
    ['"\\udc00\\ud800"', 400],
    [JSON.stringify('x'.repeat(5_000_000)), 413],
  ]
  for (const [payload, status] of bad) {
    const answer = await invoke(server, { app_name: 'hostile', action_name: 'well', payload })
    assert.equal(answer.status, status, payload.slice(0, 40))
  }
  const lone = await server.fetch('/invocations', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"app_name":"hostile","action_name":"well","payload":"\\"\\ud800\\""}',
  })
  assert.equal(lone.status, 400)
  const large = await server.fetch('/invocations', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: `{"payload":"${'x'.repeat(20_000_000)}"}`,
  })
  assert.equal(large.status, 413)
  const [{ count }] = (await query<{ count: string }>(server, 'SELECT count(*) FROM invocations')) as [
    { count: string },
  ]
  assert.equal(count, before)
})

test('an install script sees nothing of the host and reaches nothing', async () => {
  await deploy(server, {
    files: {
      ...tinyApp('spied', {}),
      'package.json': '{"type":"module","dependencies":{"spy":"1.0.0"}}',
      'index.js': `import { App } from './core/app-framework.js'
import { seen } from 'spy'
new App('spied').action('seen', (context) => JSON.parse(seen))
`,
    },
  })
  const answer = await invoke(server, { app_name: 'spied', action_name: 'seen' })
  const { file, environments, dialled } = JSON.parse(answer.body.output ?? '{}') as {
    file: string
    environments: string
    dialled: string[]
  }
  assert.equal(file, 'ENOENT')
  assert.ok(!environments.includes(canaries.secret))
  assert.ok(
    dialled.every((each) => /^E|silence/.test(each)),
    dialled.join(),
  )
  assert.equal(canaries.touches(), 0)
})
