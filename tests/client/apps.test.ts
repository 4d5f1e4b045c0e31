// Apps through the published client, in the versions that differ: deploys, lists, follows, invokes and cancels.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { toFile } from 'kernel-sdk-0-84'
import { ended, tinyApp, zipOf } from '../fixtures/apps.ts'
import { eventually } from '../fixtures/host.ts'
import { installedPackage, lockfileOf, startRegistry } from '../fixtures/npm-registry.ts'
import { startServer } from '../fixtures/server.ts'
import { client55, client70, client84 } from './versions.ts'

const owner = { after }
const sdk = installedPackage('kernel-sdk-0-84', '@onkernel/sdk')
const registry = await startRegistry(owner, [sdk])
const server = await startServer(owner, { hasRealInstances: true, env: registry.setting })
const kernel = client84(server)

const clients = { '0.55': client55(server), '0.70': client70(server), '0.84': kernel }

test('code written for the hosted original deploys unchanged', async () => {
  const app = { name: 'ts-basic', version: '1.0.0' }
  const files = {
    'package.json': JSON.stringify({
      ...app,
      type: 'module',
      dependencies: { '@onkernel/sdk': sdk.version },
    }),
    'package-lock.json': lockfileOf(app, [sdk]),
    'index.ts': `import { Kernel, type KernelContext } from '@onkernel/sdk';

const kernel = new Kernel({
  apiKey: process.env['KERNEL_API_KEY'], // This is the default and can be omitted
});

const app = kernel.app('ts-basic');

interface PageTitleInput {
  url: string;
}

app.action<PageTitleInput>('create-browser', async (ctx: KernelContext, payload?: PageTitleInput) => {
  const browser = await kernel.browsers.create({ invocation_id: ctx.invocation_id, headless: true, start_url: payload?.url });
  console.log(browser.session_id);
  await new Promise((resolve) => setTimeout(resolve, 60_000));
  return browser.session_id;
});

app.action('no-payload', async (ctx: KernelContext) => ({ id: ctx.invocation_id }));
`,
  }
  const created = await kernel.deployments.create({
    file: await toFile(zipOf(files), 'app.zip'),
    entrypoint_rel_path: 'index.ts',
    version: '1.0.0',
    region: 'aws.us-east-1a',
    force: false,
    env_vars: { FOO: 'bar' },
  })
  assert.equal(created.status, 'queued')
  assert.deepEqual(created.env_vars, { FOO: '' })
  const seen: string[] = []
  for await (const event of await kernel.deployments.follow(created.id)) {
    if (event.event === 'app_version_summary')
      seen.push(`${event.app_name} ${event.actions.map(({ name }) => name).join()}`)
    if (event.event !== 'deployment_state') continue
    seen.push(event.deployment.status)
    assert.notEqual(event.deployment.status, 'failed', event.deployment.status_reason)
    if (event.deployment.status === 'running') break
  }
  assert.deepEqual(seen, ['queued', 'in_progress', 'ts-basic create-browser,no-payload', 'running'])
  assert.equal((await kernel.deployments.retrieve(created.id)).status, 'running')
})

test('an invocation is cancelled, and its browser sessions end', async () => {
  const { id } = await kernel.invocations.create({
    app_name: 'ts-basic',
    action_name: 'create-browser',
    version: '1.0.0',
    async: true,
    async_timeout_seconds: 60,
  })
  for await (const event of await kernel.invocations.follow(id)) if (event.event === 'log') break
  const { browsers } = await kernel.invocations.listBrowsers(id)
  assert.equal(browsers.length, 1)
  assert.match(browsers[0]!.cdp_ws_url, /^ws:\/\/127\.0\.0\.1:/)
  const output = JSON.stringify({ error: 'Invocation cancelled by user' })
  const updated = await kernel.invocations.update(id, { status: 'failed', output })
  assert.equal(updated.status, 'failed')
  assert.equal(updated.output, output)
  await kernel.invocations.deleteBrowsers(id)
  assert.deepEqual((await kernel.invocations.listBrowsers(id)).browsers, [])
  await eventually('its session is gone', async () => {
    const found = await kernel.browsers.retrieve(browsers[0]!.session_id).catch(() => undefined)
    return found === undefined
  })
  assert.equal((await kernel.invocations.retrieve(id)).status, 'failed')
})

test('every version of the client invokes, lists and follows', async () => {
  for (const [age, client] of Object.entries(clients)) {
    const done = await client.invocations.create({
      app_name: 'ts-basic',
      action_name: 'no-payload',
      version: '1.0.0',
    })
    assert.equal(done.status, 'succeeded', age)
    assert.deepEqual(JSON.parse(done.output ?? ''), { id: done.id }, age)
    const found: string[] = []
    for await (const invocation of client.invocations.list({ status: 'succeeded', since: '5m', limit: 1 })) {
      found.push(invocation.id)
      if (found.length > 10) break
    }
    assert.ok(found.includes(done.id), age)
    assert.equal(new Set(found).size, found.length, `${age}: no item twice`)
    const states: string[] = []
    for await (const event of await client.invocations.follow(done.id)) {
      if (event.event === 'invocation_state') states.push(event.invocation.status)
    }
    assert.deepEqual(states, ['queued', 'running', 'succeeded'], age)
    for await (const app of client.apps.list({ app_name: 'ts-basic' })) {
      assert.deepEqual([app.version, app.region, app.env_vars], ['1.0.0', 'aws.us-east-1a', { FOO: '' }], age)
    }
    for await (const deployment of client.deployments.list({ app_name: 'ts-basic' })) {
      assert.equal(deployment.status, 'running', age)
    }
  }
})

test('CommonJS apps work, and a deployment can be deleted', async () => {
  const files = {
    'package.json': JSON.stringify({ dependencies: { '@onkernel/sdk': sdk.version } }),
    'main.js': `const Kernel = require('@onkernel/sdk')
const kernel = new Kernel()
kernel.app('common').action('keys', async (context, payload) => Object.keys(payload))
`,
  }
  const { id } = await client70(server).deployments.create({
    file: await toFile(zipOf(files), 'app.zip'),
    entrypoint_rel_path: 'main.js',
  })
  for await (const event of await kernel.deployments.follow(id)) {
    if (event.event !== 'deployment_state') continue
    assert.notEqual(event.deployment.status, 'failed', event.deployment.status_reason)
    if (event.deployment.status === 'running') break
  }
  const created = await kernel.invocations.create({
    app_name: 'common',
    action_name: 'keys',
    version: 'latest',
    payload: '{"a":1,"b":2}',
  })
  assert.equal(created.output, '["a","b"]', created.status_reason)
  await kernel.deployments.delete(id)
  assert.equal((await kernel.deployments.retrieve(id)).status, 'stopped')
  await assert.rejects(
    kernel.invocations.create({ app_name: 'common', action_name: 'keys', version: 'latest' }),
    /404/,
  )
})

test('a sync invocation whose caller disconnects fails with that reason', async () => {
  const file = await toFile(
    zipOf(tinyApp('patient', { wait: '(context) => new Promise((resolve) => setTimeout(resolve, 60_000))' })),
    'app.zip',
  )
  const { id } = await kernel.deployments.create({ file, entrypoint_rel_path: 'index.js' })
  for await (const event of await kernel.deployments.follow(id)) {
    if (event.event === 'deployment_state' && event.deployment.status === 'running') break
  }
  const call = kernel.invocations.create(
    { app_name: 'patient', action_name: 'wait', version: 'latest' },
    { timeout: 2_000, maxRetries: 0 },
  )
  await assert.rejects(call, /timed out/)
  const listed = await kernel.invocations.list({ app_name: 'patient' })
  const invocation = await ended(server, listed.items[0]!.id)
  assert.equal(invocation.status_reason, 'The caller went away before it was over')
})
