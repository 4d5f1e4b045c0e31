// What a project stores: the figure, the limit, and its refusals. Instances are fake; their user-data directory is the
// imported one.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { after, test } from 'node:test'
import type { Browser } from '@berth/contracts/browsers'
import type { Profile } from '@berth/contracts/profiles'
import type { ProjectStorage } from '@berth/contracts/projects'
import { TAR_END, tarHead, tarPadding } from '@berth/codecs/tar/writer'
import type { Replay } from '@berth/contracts/replays'
import { postDeployment } from '../fixtures/apps.ts'
import { manifest, zipOf } from '../fixtures/extensions.ts'
import { startBusyAgent } from '../fixtures/fake/busy-agent.ts'
import { eventually } from '../fixtures/host.ts'
import { startServer, tempDir, type TestServer } from '../fixtures/server.ts'
import { metric, send, type Answer, type Reached } from '../fixtures/sessions.ts'
import { EventReader } from '../fixtures/telemetry.ts'

const KB = 1024
const env = { BERTH_PROJECT_STORAGE_MB: '1', BERTH_PROFILE_VERSIONS: '2' }
const server = await startServer({ after }, { env })

const nothing = { profiles: 0, replays: 0, telemetry: 0, extensions: 0, deployments: 0 }

/** A project that is used through its own key. */
interface Tenant extends Reached {
  readonly id: string
  readonly name: string
  readonly key: string
}

async function newTenant(name: string, limits: object = {}, at = server): Promise<Tenant> {
  const { body } = await send<{ id: string }>(at, 'POST', '/org/projects', { name })
  const changed = await send(at, 'PATCH', `/org/projects/${body.id}/limits`, limits)
  assert.equal(changed.status, 200, changed.body.message)
  const made = await send<{ key: string }>(at, 'POST', '/org/api_keys', { name, project_id: body.id })
  const { key } = made.body
  return { id: body.id, name, key, fetch: (path, init) => at.fetch(path, { ...init, key }) }
}

async function storageOf(tenant: Tenant): Promise<ProjectStorage> {
  const { status, body } = await send<ProjectStorage>(tenant, 'GET', `/org/projects/${tenant.id}/storage`)
  assert.equal(status, 200, body.message)
  const sum = Object.values(body.by_kind).reduce((total, bytes) => total + bytes, 0)
  assert.equal(body.used_bytes, sum)
  return body
}

/** Its content does not compress. */
function archiveOf(bytes: number): Buffer {
  const content = randomBytes(bytes)
  const head = tarHead({ path: 'Default/note', kind: 'file', size: bytes, mtimeSeconds: 0 })
  return Buffer.concat([head, content, tarPadding(bytes), TAR_END])
}

async function newProfile(tenant: Reached): Promise<string> {
  return (await send<Profile>(tenant, 'POST', '/profiles', {})).body.id
}

async function importInto(tenant: Reached, id: string, bytes: number): Promise<Answer<{ version: number }>> {
  const answer = await tenant.fetch(`/profiles/${id}/archive`, {
    method: 'PUT',
    headers: { 'content-type': 'application/octet-stream' },
    body: new Uint8Array(archiveOf(bytes)),
  })
  const body = (await answer.json()) as Answer<{ version: number }>['body']
  return { status: answer.status, headers: answer.headers, body }
}

async function upload(tenant: Reached, bytes: number): Promise<Answer<{ id: string }>> {
  const form = new FormData()
  const file = zipOf({ 'manifest.json': manifest(), 'data.bin': randomBytes(bytes) })
  form.set('file', new Blob([new Uint8Array(file)]), 'x.zip')
  const answer = await tenant.fetch('/extensions', { method: 'POST', body: form })
  const body = (await answer.json()) as Answer<{ id: string }>['body']
  return { status: answer.status, headers: answer.headers, body }
}

const deploy = (tenant: Reached, bytes: number, version = 'latest') =>
  postDeployment(tenant, { files: { 'index.js': randomBytes(bytes / 2).toString('hex') }, version })

async function whenBuilt(tenant: Reached, path: string): Promise<void> {
  await eventually('it is built', async () => {
    const { body } = await send<{ status: string }>(tenant, 'GET', path)
    return body.status === 'running'
  })
}

const remedy =
  "delete profiles, extensions or deployments, or raise the project's max_storage_bytes or BERTH_PROJECT_STORAGE_MB"

function assertFull(answer: Answer<object>, action: string, { name }: Tenant): void {
  assert.equal(answer.status, 413, JSON.stringify(answer.body))
  assert.equal(answer.body.code, 'storage_full')
  const { message = '' } = answer.body
  assert.ok(message.startsWith(`Cannot ${action}: project "${name}" may store at most `), message)
  assert.ok(message.endsWith(remedy), message)
}

test('the figure is the sum of what is stored, by kind, and follows every delete', async () => {
  const tenant = await newTenant('Counted')
  assert.deepEqual(await storageOf(tenant), { max_bytes: KB * KB, used_bytes: 0, by_kind: nothing })

  const profile = await newProfile(tenant)
  assert.equal((await importInto(tenant, profile, 20 * KB)).status, 201)
  const once = (await storageOf(tenant)).by_kind.profiles
  assert.ok(once > 20 * KB && once < 22 * KB, `${once} bytes`)
  assert.equal((await importInto(tenant, profile, 20 * KB)).status, 201)
  const twice = (await storageOf(tenant)).by_kind.profiles
  assert.ok(twice > 40 * KB && twice < 44 * KB, `${twice} bytes`)

  const extension = await upload(tenant, 30 * KB)
  assert.equal(extension.status, 201)
  const { extensions } = (await storageOf(tenant)).by_kind
  assert.ok(extensions > 30 * KB && extensions < 32 * KB, `${extensions} bytes`)

  const deployment = await deploy(tenant, 40 * KB)
  assert.equal(deployment.status, 201, deployment.body.message)
  const path = `/deployments/${deployment.body.id}`
  await whenBuilt(tenant, path)
  const { deployments } = (await storageOf(tenant)).by_kind
  assert.ok(deployments > 20 * KB, `${deployments} bytes`)

  // The first request for metrics asks for the sums, and a later one has them.
  await eventually('the metrics have it', async () => {
    const text = await (await server.fetch('/metrics')).text()
    return Number(/^berth_storage_bytes\{kind="profiles"\} (\d+)$/m.exec(text)?.[1]) >= twice
  })
  assert.equal((await send(tenant, 'DELETE', path)).status, 204)
  await eventually('its files are gone', async () => (await storageOf(tenant)).by_kind.deployments === 0)
  assert.equal((await send(tenant, 'DELETE', `/extensions/${extension.body.id}`)).status, 204)
  assert.deepEqual((await storageOf(tenant)).by_kind, { ...nothing, profiles: twice })
  assert.equal((await send(tenant, 'DELETE', `/profiles/${profile}`)).status, 204)
  assert.deepEqual((await storageOf(tenant)).by_kind, nothing)
})

test('the limit of a project wins over the setting, and only an organisation-wide key changes it', async () => {
  const tenant = await newTenant('Raised', { max_storage_bytes: 3 * KB * KB })
  assert.equal((await storageOf(tenant)).max_bytes, 3 * KB * KB)
  const path = `/org/projects/${tenant.id}/limits`
  assert.equal((await send(tenant, 'PATCH', path, { max_storage_bytes: 1e15 })).status, 403)
  assert.equal((await send(server, 'PATCH', path, { max_storage_bytes: 1e15 + 1 })).status, 400)
  assert.equal((await send(server, 'PATCH', path, { max_storage_bytes: 0 })).status, 200)
  assert.equal((await storageOf(tenant)).max_bytes, KB * KB)
  const other = await newTenant('Other')
  assert.equal((await send(other, 'GET', `/org/projects/${tenant.id}/storage`)).status, 404)
})

test('beyond the limit every upload is refused with 413, and another project is not', async () => {
  const full = await newTenant('Full', { max_storage_bytes: 100 * KB })
  const other = await newTenant('Roomy', { max_storage_bytes: 100 * KB })
  const [mine, theirs] = [await newProfile(full), await newProfile(other)]
  const refusals = await metric(server, 'berth_storage_refusals_total')

  // Each is too large for what is left.
  assert.equal((await importInto(full, mine, 60 * KB)).status, 201)
  const before = await storageOf(full)
  const refused = await importInto(full, mine, 60 * KB)
  assertFull(refused, 'import the archive', full)
  assert.match(
    refused.body.message!,
    /with this it would store 12\d(\.\d)? KB \(12\d(\.\d)? KB of profiles\)/,
  )
  assertFull(await upload(full, 60 * KB), 'take the extension', full)
  assertFull(await deploy(full, 160 * KB), 'deploy the app', full)
  assert.deepEqual(await storageOf(full), before)

  // Nothing is left at all.
  const { id, used_bytes } = { id: full.id, ...before }
  await send(server, 'PATCH', `/org/projects/${id}/limits`, { max_storage_bytes: used_bytes })
  for (const [action, answer] of [
    ['import the archive', await importInto(full, mine, 1)],
    ['take the extension', await upload(full, 1)],
    ['deploy the app', await deploy(full, 2)],
  ] as const) {
    assertFull(answer, action, full)
    assert.match(answer.body.message!, /and it stores 6\d(\.\d)? KB already \(6\d(\.\d)? KB of profiles\)/)
  }
  assert.equal(await metric(server, 'berth_storage_refusals_total'), refusals + 6)

  assert.equal((await importInto(other, theirs, 60 * KB)).status, 201)
  assert.equal((await upload(other, 20 * KB)).status, 201)
  // What is deleted makes room.
  assert.equal((await send(full, 'DELETE', `/profiles/${mine}`)).status, 204)
  assert.equal((await upload(full, 20 * KB)).status, 201)
})

test('a version that replaces another needs only the difference', async () => {
  const tenant = await newTenant('Replacing', { max_storage_bytes: 100 * KB })
  const id = await newProfile(tenant)
  // Two versions are kept.
  for (const version of [1, 2, 3, 4]) {
    const answer = await importInto(tenant, id, 40 * KB)
    assert.equal(answer.status, 201, answer.body.message)
    assert.equal(answer.body.version, version)
  }
})

test("a session's end that no longer fits says so where its save is shown, and keeps the version before", async () => {
  const tenant = await newTenant('Ended', { max_storage_bytes: 100 * KB })
  const id = await newProfile(tenant)
  assert.equal((await importInto(tenant, id, 60 * KB)).status, 201)
  const profile = { id, save_changes: true }
  const made = await send(tenant, 'POST', '/browsers', { headless: true, profile })
  assert.equal(made.status, 200, made.body.message)
  const at = `/browsers/${made.body.session_id}`
  const saved = await send(tenant, 'POST', `${at}/profile/save`, {})
  assertFull(saved, 'save the session', tenant)
  assert.equal((await send(tenant, 'DELETE', at)).status, 204)
  let save: Browser['profile_save']
  await eventually('the save has an outcome', async () => {
    save = (await send<Browser>(tenant, 'GET', `${at}?include_deleted=true`)).body.profile_save
    return save !== undefined && save.state !== 'saving'
  })
  assert.equal(save!.state, 'failed')
  assert.ok(
    save!.message!.startsWith('project "Ended" may store at most 100 KB, and with this'),
    save!.message,
  )
  assert.ok(save!.message!.endsWith(remedy))
  assert.equal((await send<Profile>(tenant, 'GET', `/profiles/${id}`)).body.version, 1)
})

test('an app whose files no longer fit fails to build and says why', async () => {
  const tenant = await newTenant('Built')
  const first = await deploy(tenant, 2 * KB, 'first')
  const path = `/deployments/${first.body.id}`
  await whenBuilt(tenant, path)
  assert.equal((await send(tenant, 'DELETE', path)).status, 204)
  await eventually('its files are gone', async () => (await storageOf(tenant)).used_bytes === 0)
  // The source of the next fits exactly, its built files do not.
  const next = zipOf({ 'index.js': 'x' }).length
  await send(server, 'PATCH', `/org/projects/${tenant.id}/limits`, { max_storage_bytes: next })
  const second = await postDeployment(tenant, { files: { 'index.js': 'x' }, version: 'second' })
  assert.equal(second.status, 201, second.body.message)
  let reason: string | undefined
  await eventually('it has failed', async () => {
    const { body } = await send<{ status: string; status_reason?: string }>(
      tenant,
      'GET',
      `/deployments/${second.body.id}`,
    )
    reason = body.status_reason
    return body.status === 'failed'
  })
  assert.match(reason!, /^Cannot keep the built app: project "Built" may store at most/)
})

test('two projects upload at once, and each stays within its limit', async () => {
  const tenants = [
    await newTenant('One of two', { max_storage_bytes: 100 * KB }),
    await newTenant('Two of two', { max_storage_bytes: 70 * KB }),
  ]
  const answers = await Promise.all(
    tenants.flatMap((tenant) =>
      Array.from({ length: 8 }, async () => {
        const id = await newProfile(tenant)
        return { tenant, answer: await importInto(tenant, id, 30 * KB) }
      }),
    ),
  )
  for (const [index, fitting] of [3, 2].entries()) {
    const tenant = tenants[index]!
    const own = answers.filter((each) => each.tenant === tenant).map(({ answer }) => answer)
    assert.equal(own.filter(({ status }) => status === 201).length, fitting)
    for (const answer of own) if (answer.status !== 201) assertFull(answer, 'import the archive', tenant)
    const { used_bytes, max_bytes } = await storageOf(tenant)
    assert.ok(used_bytes <= max_bytes!, `${used_bytes} of ${max_bytes}`)
  }
})

test('what nobody waits for stays within its share: a recording stops, and the oldest events are deleted', async (t) => {
  const tenant = await newTenant('Unattended', { max_storage_bytes: 4 * KB * KB })
  const telemetry = { browser: { console: { enabled: true } } }
  const { body } = await send(tenant, 'POST', '/browsers', { headless: true, timeout_seconds: 300 })
  const at = `/browsers/${body.session_id}`
  const agent = await startBusyAgent(t, { events: 100 })
  const exec = await send(tenant, 'POST', `${at}/process/exec`, { command: 'replace-agent', args: [agent] })
  assert.equal(exec.status, 200)
  assert.equal((await send(tenant, 'PATCH', at, { telemetry })).status, 200)
  const reader = await EventReader.open(server, body.session_id, { key: tenant.key })
  t.after(() => reader.close())
  assert.equal((await send<Replay>(tenant, 'POST', `${at}/replays`)).status, 201)

  let replay: Replay | undefined
  await eventually(
    'the recording has stopped',
    async () => {
      replay = (await send<Replay[]>(tenant, 'GET', `${at}/replays`)).body[0]
      return replay?.size_bytes !== undefined
    },
    30_000,
  )
  assert.equal(replay!.end_reason, 'storage_limit')
  const again = await send(tenant, 'POST', `${at}/replays`)
  assert.equal(again.status, 413)
  assert.equal(again.body.code, 'storage_full')
  assert.match(again.body.message!, /^Cannot record: .*project "Unattended" may .*MB of replays/)
  const { by_kind } = await storageOf(tenant)
  assert.ok(by_kind.replays >= 2 * KB * KB, `${by_kind.replays} bytes`)

  // The events are 3 MB, a quarter of the limit is 1 MB.
  const told = () => reader.ofType('monitor_events_deleted')
  await reader.until('all events', () => reader.ofType('console_log').length === 100, 30_000)
  await reader.until('it is told', () => told().length > 0, 30_000)
  assert.deepEqual(told()[0]!.data, { reason: 'storage_limit' })
  await eventually(
    'the oldest are deleted',
    async () => (await storageOf(tenant)).by_kind.telemetry <= KB * KB,
    30_000,
  )
  const events = async (order: string) =>
    (await send<{ seq: number }[]>(tenant, 'GET', `${at}/telemetry/events?limit=1&${order}`)).body[0]!.seq
  assert.ok((await events('order=asc&since=1h')) > 50)
  assert.equal(await events('order=desc'), reader.events.at(-1)!.seq)
  assert.equal((await send(tenant, 'DELETE', at)).status, 204)
})

/** An import whose body never ends. */
function hold(tenant: Tenant, id: string): { answer: Promise<number>; cut: () => void } {
  const sent = request(`${server.url}/profiles/${id}/archive`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${tenant.key}`, 'content-type': 'application/octet-stream' },
  })
  const answer = new Promise<number>((resolve, reject) => {
    sent.on('error', reject)
    sent.on('response', (response) => {
      response.resume()
      resolve(response.statusCode!)
    })
  })
  answer.catch(() => {})
  sent.write(archiveOf(KB).subarray(0, 600))
  return { answer, cut: () => sent.destroy() }
}

test('one project has so many uploads under way, and then gets 429 while others are served', async () => {
  const busy = await newTenant('Busy')
  const other = await newTenant('Served')
  const [mine, theirs] = [await newProfile(busy), await newProfile(other)]
  const held = Array.from({ length: 33 }, () => hold(busy, mine))
  assert.equal(await Promise.race(held.map(({ answer }) => answer)), 429)
  const refused = await upload(busy, 1)
  assert.equal(refused.status, 429)
  assert.equal(refused.headers.get('retry-after'), '5')
  assert.match(refused.body.message!, /32 uploads of the project are under way; send fewer at once/)
  assert.equal((await importInto(other, theirs, KB)).status, 201)
  for (const { cut } of held) cut()
  await eventually('it has places again', async () => (await upload(busy, 1)).status === 201)
})

test('a kill between the bytes and their row leaves nothing that counts', async (t) => {
  const dataDir = tempDir(t)
  const doomed: TestServer = await startServer(t, { dataDir, env: { BERTH_CRASH_AT: 'blob-named' } })
  const tenant = await newTenant('Killed', {}, doomed)
  const id = await newProfile(tenant)
  await assert.rejects(importInto(tenant, id, 50 * KB))
  await doomed.stop()
  const next = await startServer(t, { dataDir })
  const same: Tenant = { ...tenant, fetch: (path, init) => next.fetch(path, { ...init, key: tenant.key }) }
  assert.deepEqual((await storageOf(same)).by_kind, nothing)
  assert.equal((await importInto(same, id, 50 * KB)).status, 201)
})
