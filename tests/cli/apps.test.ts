// Every template is created, deployed and invoked with the command line alone, on real instances.
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { eventually } from '../fixtures/host.ts'
import { installedPackage, startRegistry } from '../fixtures/npm-registry.ts'
import { pythonClient } from '../fixtures/python-client.ts'
import { startPythonIndex } from '../fixtures/python-index.ts'
import { startServer } from '../fixtures/server.ts'
import { listSessions } from '../fixtures/sessions.ts'
import { startSite } from '../fixtures/site.ts'
import { berthFor } from './berth.ts'

const owner = { after }
const registry = await startRegistry(owner, [installedPackage('kernel-sdk-0-84', '@onkernel/sdk')])
const index = await startPythonIndex(owner, [pythonClient])
const site = await startSite(owner)
const server = await startServer(owner, {
  hasRealInstances: true,
  env: { ...registry.setting, ...index.setting, ...site.allow },
})
const berth = berthFor(owner, server)

const languages = [
  { language: 'typescript', entry: 'index.ts' },
  { language: 'python', entry: 'main.py' },
]
const templates: readonly {
  template: string
  action: string
  payload: object
  check: (result: Record<string, unknown>) => void
}[] = [
  {
    template: 'hello',
    action: 'hello',
    payload: { url: site.url },
    check: (result) => assert.deepEqual(result, { url: site.url, title: 'Home' }),
  },
  {
    template: 'screenshot',
    action: 'screenshot',
    payload: { url: site.url, fullPage: true },
    check: ({ jpeg }) =>
      assert.deepEqual([...Buffer.from(jpeg as string, 'base64').subarray(0, 2)], [0xff, 0xd8]),
  },
  {
    template: 'login',
    action: 'check',
    payload: { domain: 'example.com', url: 'https://example.com/' },
    check({ loggedIn, logInHere }) {
      assert.equal(loggedIn, false)
      assert.match(logInHere as string, /^http/)
    },
  },
  {
    template: 'crawl',
    action: 'crawl',
    payload: { url: `${site.url}/`, limit: 3 },
    check({ pages }) {
      assert.deepEqual((pages as { title: string }[]).map(({ title }) => title).slice(0, 2), [
        'Home',
        'Popup',
      ])
    },
  },
]

/** pip asks an index over plain HTTP only if it is told to; the index of a template's user has HTTPS. */
const TRUSTING = `--trusted-host host.berth.internal\n${pythonClient.name}>=${pythonClient.version}\n`

for (const { language, entry } of languages) {
  for (const { template, action, payload, check } of templates) {
    test(`the ${language} template ${template} is created, deployed and invoked`, async () => {
      const name = `${language}-${template}`
      const directory = join(berth.home, name)
      const created = await berth(['create', name, '--language', language, '--template', template])
      assert.equal(created.code, 0, created.stderr)
      assert.match(created.stderr, new RegExp(`berth deploy ${entry}`))
      for (const file of ['.gitignore', entry])
        assert.ok(!readFileSync(join(directory, file), 'utf8').includes('APP_NAME'))
      if (language === 'python') writeFileSync(join(directory, 'requirements.txt'), TRUSTING)
      const deployed = await berth(['deploy', entry], { cwd: directory })
      assert.equal(deployed.code, 0, deployed.stderr)
      assert.match(deployed.stderr, new RegExp(`Invoke it: berth invoke ${name} ${action}`))
      const invoked = await berth(['invoke', name, action, '--payload', JSON.stringify(payload), '--sync'])
      assert.equal(invoked.code, 0, invoked.stderr)
      check(JSON.parse(invoked.stdout) as Record<string, unknown>)
    })
  }
}

test('an invocation shows its logs before its result, and a failed one ends with 1', async () => {
  const ran = await berth(['invoke', 'typescript-hello', 'hello', '-p', JSON.stringify({ url: site.url })])
  assert.equal(ran.code, 0, ran.stderr)
  assert.match(ran.stdout, /^session \w+ opens [^]*"title": "Home"/)
  const failed = await berth(['invoke', 'typescript-login', 'check'])
  assert.equal(failed.code, 1)
  assert.match(failed.stderr, /The invocation \w+ failed: [^]*needs a domain/)
  const events = await berth(['invoke', 'typescript-login', 'check', '-o', 'json'])
  assert.equal(events.code, 1)
  const lines = events.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { invocation?: { status: string } })
  assert.equal(lines.at(-1)?.invocation?.status, 'failed')
})

test('Ctrl-C cancels an invocation and ends its sessions', async () => {
  const directory = join(berth.home, 'typescript-hello')
  const source = readFileSync(join(directory, 'index.ts'), 'utf8')
  writeFileSync(
    join(directory, 'index.ts'),
    source.replace(
      '  return { url, title: result }',
      '  await new Promise((resolve) => setTimeout(resolve, 600_000))\n  return { url, title: result }',
    ),
  )
  const deployed = await berth(['deploy', 'index.ts', '--version', 'slow'], { cwd: directory })
  assert.equal(deployed.code, 0, deployed.stderr)
  const { code, stderr, stdout } = await berth(
    ['invoke', 'typescript-hello', 'hello', '--version', 'slow', '-p', JSON.stringify({ url: site.url })],
    {
      async during(child) {
        await eventually('it has a session', () => Promise.resolve(child.output().includes('opens')), 60_000)
        child.kill('SIGINT')
      },
    },
  )
  assert.equal(code, 130, stderr)
  const [, session] = /session (\w+) opens/.exec(stdout)!
  const [, id] = /Cancelled (\w+)/.exec(stderr)!
  const found = JSON.parse((await berth(['invoke', 'get', id!, '-o', 'json'])).stdout) as { status: string }
  assert.equal(found.status, 'failed')
  await eventually('its session has ended', async () =>
    (await listSessions(server)).every(({ session_id: each }) => each !== session),
  )
})

test('a build that fails says why, and its logs can be read later', async () => {
  const directory = join(berth.home, 'python-hello')
  writeFileSync(join(directory, 'requirements.txt'), 'no-such-package\n')
  const { code, stderr } = await berth(['deploy', 'main.py', '--version', 'broken'], { cwd: directory })
  assert.equal(code, 1)
  const [, id] = /The deployment (\w+) failed: /.exec(stderr) ?? assert.fail(stderr)
  const logs = await berth(['deploy', 'logs', id!])
  assert.equal(logs.code, 0, logs.stderr)
  assert.match(logs.stdout, /the requirement no-such-package/)
})

test('the logs of an app and its history are there, and it is deleted with all its deployments', async () => {
  const logs = await berth(['logs', 'typescript-hello', '--since', '1h'])
  assert.equal(logs.code, 0, logs.stderr)
  assert.match(logs.stdout, /opens/)
  const history = JSON.parse(
    (await berth(['app', 'history', 'typescript-hello', '-o', 'json'])).stdout,
  ) as unknown[]
  assert.equal(history.length, 2)
  const deleted = await berth(['app', 'delete', 'typescript-hello', '--yes'])
  assert.equal(deleted.code, 0, deleted.stderr)
  const apps = JSON.parse((await berth(['app', 'list', '--all', '-o', 'json'])).stdout) as {
    app_name: string
  }[]
  assert.ok(apps.length > 0 && apps.every(({ app_name: name }) => name !== 'typescript-hello'))
})

test('a directory that is not empty is left alone', async () => {
  const ran = await berth(['create', 'typescript-crawl', '--language', 'py', '--template', 'hello'])
  assert.equal(ran.code, 2)
  assert.match(ran.stderr, /is not empty/)
  assert.ok(!existsSync(join(berth.home, 'typescript-crawl/main.py')))
})
