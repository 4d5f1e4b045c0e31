// The server is killed during a login with a real browser, whose instance survives. The next server continues what is
// certain and fails the rest. The profile is the old one or the new one.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { begin, connect, reaches, read, submit } from '../fixtures/auth-connections.ts'
import { eventually } from '../fixtures/host.ts'
import { startZoo } from '../fixtures/login-zoo/zoo.ts'
import { startServer, tempDir, type TestServer } from '../fixtures/server.ts'
import { send } from '../fixtures/sessions.ts'

const MAX_MS = 60_000

async function started(t: TestContext) {
  const zoo = await startZoo(t)
  const dataDir = tempDir(t)
  const start = (at?: string) =>
    startServer(t, {
      hasRealInstances: true,
      dataDir,
      env: { ...zoo.allow, BERTH_LEASE_SECONDS: '30', ...(at !== undefined && { BERTH_CRASH_AT: at }) },
    })
  return { site: zoo.site('classic-form'), start }
}

const killed = ({ process }: TestServer) =>
  eventually('it is killed', () => process.signalCode === 'SIGKILL', MAX_MS)

async function versionOf(server: TestServer, name: string): Promise<number | undefined> {
  return (await send<{ version?: number }>(server, 'GET', `/profiles/${name}`)).body.version
}

test('a flow that waits for a person continues in its session, and the person is asked again', async (t) => {
  const { site, start } = await started(t)
  const first = await start()
  const { id, profile_name } = await connect(first, site.domain)
  await begin(first, id)
  const before = await reaches(first, id, 'AWAITING_INPUT', MAX_MS)
  await first.stop('SIGKILL')
  const second = await start()
  await eventually(
    'it asks again',
    async () => {
      const { flow_step, interaction_id } = await read(second, id)
      return flow_step === 'AWAITING_INPUT' && interaction_id !== before.interaction_id
    },
    MAX_MS,
  )
  const state = await read(second, id)
  assert.equal(state.browser_session_id, before.browser_session_id)
  const { value } = site.person(site.description.variants[0]!)
  const values = state.fields!.map((field) => [
    field.id,
    value(field.type === 'password' ? 'password' : 'username'),
  ])
  await submit(second, id, { field_values: Object.fromEntries(values) as object })
  await reaches(second, id, 'SUCCESS', MAX_MS)
  assert.equal(await versionOf(second, profile_name), 1)
})

for (const [at, ends, version] of [
  ['login-submission-taken', 'FAILED', undefined],
  ['login-outcome-kept', 'SUCCESS', 1],
  ['profile-stored', 'SUCCESS', 1],
] as const) {
  test(`a kill at ${at} ends as ${ends}`, async (t) => {
    const { site, start } = await started(t)
    const doomed = await start(at)
    const { id, profile_name } = await connect(doomed, site.domain)
    await begin(doomed, id)
    const state = await reaches(doomed, id, 'AWAITING_INPUT', MAX_MS)
    const { value } = site.person(site.description.variants[0]!)
    const values = state.fields!.map((field) => [
      field.id,
      value(field.type === 'password' ? 'password' : 'username'),
    ])
    await submit(doomed, id, { field_values: Object.fromEntries(values) as object }).catch(() => {})
    await killed(doomed)
    const server = await start()
    const over = await reaches(server, id, ends, MAX_MS)
    if (ends === 'FAILED') assert.equal(over.error_code, 'internal_error')
    assert.equal(over.status, ends === 'SUCCESS' ? 'AUTHENTICATED' : 'NEEDS_AUTH')
    assert.equal(await versionOf(server, profile_name), version)
    await eventually(
      'its session is over',
      async () => {
        return (await send<object[]>(server, 'GET', '/browsers')).body.length === 0
      },
      MAX_MS,
    )
  })
}
