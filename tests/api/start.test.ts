// The command line: help, wrong settings, first and second start, TLS, proxies, host names.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { EmbeddedPostgres } from '@berth/server/platform/database/embedded/postgres'
import { withCdp } from '../fixtures/cdp.ts'
import { programFile } from '../fixtures/programs.ts'
import { serverEnv, startServer, tempDir } from '../fixtures/server.ts'
import { createSession, send } from '../fixtures/sessions.ts'
import { filesWith } from '../hostile/secret-search.ts'

const main = programFile('main')

function runMain(args: string[], env: Record<string, string>) {
  return spawnSync(process.execPath, [main, ...args], { env: serverEnv(env), encoding: 'utf8' })
}

test('--help explains every setting and starts nothing', (t) => {
  const { status, stdout } = runMain(['--help'], { BERTH_DATA_DIR: tempDir(t) })
  assert.equal(status, 0)
  assert.match(stdout, /BERTH_PORT\n +Port to listen on/)
})

test('a wrong setting, an unknown setting and an unknown option are clear errors before anything starts', (t) => {
  const dataDir = tempDir(t)
  for (const [args, env, message] of [
    [[], { BERTH_PORT: 'http' }, /BERTH_PORT must be a whole number from 0 to 65535, but is "http"/],
    [[], { BERTH_DATADIR: '/x' }, /BERTH_DATADIR is not a setting/],
    [['--port', '80'], {}, /"--port" is not an option; settings are environment variables/],
  ] as const) {
    const { status, stderr } = runMain([...args], { BERTH_DATA_DIR: join(dataDir, 'data'), ...env })
    assert.equal(status, 1)
    assert.match(stderr, message)
    assert.doesNotMatch(stderr, / at .*\.ts:/, 'no stack')
  }
  assert.throws(() => statSync(join(dataDir, 'data')), { code: 'ENOENT' })
})

test('a port in use and an unreachable database are clear errors', async (t) => {
  const server = await startServer(t, { hasOwnPostgres: true })
  const taken = runMain([], { BERTH_DATA_DIR: tempDir(t), BERTH_PORT: new URL(server.url).port })
  assert.equal(taken.status, 1)
  assert.match(
    taken.stderr,
    /Cannot listen on 127\.0\.0\.1 port \d+; see BERTH_HOST and BERTH_PORT[^]*EADDRINUSE/,
  )
  const lost = runMain([], { BERTH_DATA_DIR: tempDir(t), DATABASE_URL: 'postgres://x@127.0.0.1:1/x' })
  assert.equal(lost.status, 1)
  assert.match(lost.stderr, /Cannot use the database in DATABASE_URL[^]*ECONNREFUSED/)
})

test('the first start prints a key that works and keeps it in a private file; a second start creates none', async (t) => {
  const dataDir = tempDir(t)
  const first = await startServer(t, { dataDir, makesCluster: true })
  assert.match(first.output(), new RegExp(`Your API key +${first.key}`))
  assert.equal(statSync(join(dataDir, 'api-key')).mode & 0o777, 0o600)
  const curl = /^ {2}curl (.*)$/m.exec(first.output())?.[1]
  const answer = execFileSync('sh', ['-c', `curl -s ${curl}`], { encoding: 'utf8' })
  assert.equal((JSON.parse(answer) as { name: string }[])[0]?.name, 'Default')
  assert.equal(await first.stop('SIGTERM'), 0)

  const second = await startServer(t, { dataDir })
  assert.doesNotMatch(second.output(), /sk_/)
  assert.equal(second.key, first.key)
  const keys = (await (await second.fetch('/org/api_keys')).json()) as object[]
  assert.equal(keys.length, 1)
  const again = /^ {2}curl (.*)$/m.exec(second.output())?.[1]
  assert.equal(execFileSync('sh', ['-c', `curl -s ${again}`], { encoding: 'utf8' }), answer)
})

test('BERTH_API_KEY is the first key, at the first start only', async (t) => {
  const dataDir = tempDir(t)
  const first = await startServer(t, { dataDir, env: { BERTH_API_KEY: 'my-own-key' } })
  assert.equal((await first.fetch('/org/projects', { key: 'my-own-key' })).status, 200)
  assert.ok(!first.output().includes('my-own-key'), 'it is not printed')
  await first.stop()
  assert.deepEqual(filesWith(dataDir, 'my-own-key'), [], 'it is in no file')
  const second = await startServer(t, { dataDir, env: { BERTH_API_KEY: 'another-key' } })
  assert.equal((await second.fetch('/org/projects', { key: 'my-own-key' })).status, 200)
  assert.equal((await second.fetch('/org/projects', { key: 'another-key' })).status, 401)
})

test('a data directory below one that the database user may not enter works', async (t) => {
  const closed = tempDir(t)
  chmodSync(closed, 0o700)
  const server = await startServer(t, { makesCluster: true, dataDir: join(closed, 'data') })
  assert.equal((await server.fetch('/org/projects')).status, 200)
})

test('below one that the account of the server may not enter, sessions work, and files of root are read', async (t) => {
  const closed = tempDir(t)
  chmodSync(closed, 0o700)
  const providers = join(closed, 'providers.json')
  writeFileSync(providers, JSON.stringify({ isp: { url: 'http://proxy.example:1' } }), { mode: 0o600 })
  const dataDir = join(closed, 'd'.repeat(100), 'data')
  const env = { BERTH_PROXY_PROVIDERS: providers }
  const server = await startServer(t, { hasRealInstances: true, dataDir, env })
  const { cdp_ws_url } = await createSession(server)
  assert.equal(await withCdp(cdp_ws_url, (cdp) => cdp.evaluate('1 + 1')), 2)
  const proxy = await send(server, 'POST', '/proxies', { type: 'isp' })
  assert.equal(proxy.status, 201, JSON.stringify(proxy.body))
})

test('a data directory with a path too long for a socket works', async (t) => {
  const server = await startServer(t, { makesCluster: true, dataDir: join(tempDir(t), 'd'.repeat(120)) })
  assert.equal((await server.fetch('/org/projects')).status, 200)
  const host = EmbeddedPostgres.connectionIn(server.dataDir).host!
  assert.equal(dirname(host), tmpdir())
  assert.ok(existsSync(host))
  await server.stop()
  assert.equal(existsSync(host), false, 'the directory of the socket is left behind')
})

test('no process of the database runs as root', async (t) => {
  const server = await startServer(t, { hasOwnPostgres: true })
  const pidFile = join(server.dataDir, 'postgres/cluster/postmaster.pid')
  const pid = readFileSync(pidFile, 'utf8').split('\n')[0]
  const uids = /^Uid:\t(\d+)\t(\d+)\t(\d+)\t(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  assert.ok(uids?.slice(1).every((uid) => uid !== '0'))
})

test('HTTPS uses the certificate of the operator', async (t) => {
  const dir = tempDir(t)
  const [cert, key] = [join(dir, 'cert.pem'), join(dir, 'key.pem')]
  const options = [
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-days',
    '2',
  ]
  execFileSync('openssl', ['req', ...options, '-subj', '/CN=localhost', '-keyout', key, '-out', cert], {
    stdio: 'ignore',
  })
  const server = await startServer(t, { env: { BERTH_TLS_CERT: cert, BERTH_TLS_KEY: key } })
  assert.match(server.url, /^https:/)
  const status = await new Promise<number | undefined>((resolve, reject) => {
    request(`${server.url}/health`, { ca: readFileSync(cert), servername: 'localhost' }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
      .once('error', reject)
      .end()
  })
  assert.equal(status, 200)
  const missing = runMain([], {
    BERTH_DATA_DIR: tempDir(t),
    BERTH_TLS_CERT: '/nowhere.pem',
    BERTH_TLS_KEY: key,
  })
  assert.equal(missing.status, 1)
  assert.match(missing.stderr, /BERTH_TLS_CERT .*\/nowhere\.pem/)
})

test('X-Forwarded-For is trusted only from a trusted proxy', async (t) => {
  for (const [trusted, expected] of [
    ['', '127.0.0.1'],
    ['127.0.0.1/32', '203.0.113.9'],
  ]) {
    const server = await startServer(t, { env: { BERTH_TRUSTED_PROXIES: trusted! } })
    await server.fetch('/org/projects', { headers: { 'x-forwarded-for': '203.0.113.9' } })
    const start = new Date(Date.now() - 60_000).toISOString()
    const end = new Date(Date.now() + 60_000).toISOString()
    const logs = await server.fetch(`/audit-logs?start=${start}&end=${end}`)
    assert.equal(((await logs.json()) as { client_ip: string }[])[0]?.client_ip, expected)
  }
})
