// The resource `agents.auth` of clients before 0.33: connections under their old name. The sites are fake; see
// fake-logins.ts.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { eventually } from '../fixtures/host.ts'
import { send } from '../fixtures/sessions.ts'
import { sharedServer } from '../fixtures/shared-server.ts'
import { client24, client32, client84 } from './versions.ts'

const server = await sharedServer({ after })
const client = client32(server)
const { auth } = client.agents
const { invocations } = auth
const newest = client84(server)

test('client 0.32.0 creates, finds, lists and deletes an agent, which is a connection', async () => {
  const wanted = { domain: 'Agents.Example', profile_name: 'agent-crud', allowed_domains: ['*.sso.example'] }
  const made = await auth.create(wanted)
  assert.equal(made.domain, 'agents.example')
  assert.equal(made.status, 'NEEDS_AUTH')
  assert.equal(made.can_reauth, false)
  assert.deepEqual(made.allowed_domains, ['sso.example'])
  // Creating it again returns it, unchanged.
  assert.deepEqual(await auth.create({ ...wanted, allowed_domains: [] }), made)
  assert.deepEqual(await auth.retrieve(made.id), made)
  const found: string[] = []
  for await (const each of auth.list({ profile_name: 'agent-crud', domain: 'agents.example', limit: 1 })) {
    found.push(each.id)
  }
  assert.deepEqual(found, [made.id])
  const connection = await newest.auth.connections.retrieve(made.id)
  assert.equal(connection.domain, 'agents.example')
  assert.equal(connection.save_credentials, false)
  await auth.delete(made.id)
  await assert.rejects(auth.retrieve(made.id), { status: 404 })
  await assert.rejects(newest.auth.connections.retrieve(made.id), { status: 404 })
  await assert.rejects(auth.create({ domain: 'com', profile_name: 'x' }), { status: 400 })
})

test('client 0.32.0 logs in by an invocation, with its token, and saves what was typed under a name', async () => {
  const agent = await auth.create({ domain: 'code.example', profile_name: 'agent-login' })
  const begun = await invocations.create({ auth_agent_id: agent.id, save_credential_as: 'agent-saved' })
  assert.equal(begun.type, 'login')
  assert.ok(begun.hosted_url.endsWith(`/auth/hosted/${agent.id}#code=${begun.handoff_code}`))
  assert.ok(Date.parse(begun.expires_at) > Date.now())
  const { invocation_id: id } = begun

  const stranger = client32(server, { apiKey: 'nobody' }).agents.auth.invocations
  await assert.rejects(stranger.exchange(id, { code: 'guess' }), { status: 404 })
  await assert.rejects(stranger.exchange('absent', { code: begun.handoff_code }), { status: 404 })
  const { jwt, invocation_id } = await stranger.exchange(id, { code: begun.handoff_code })
  assert.equal(invocation_id, id)
  await assert.rejects(stranger.exchange(id, { code: begun.handoff_code }), { status: 410 })
  await assert.rejects(stranger.retrieve(id), { status: 401 })
  const person = client32(server, { apiKey: jwt }).agents.auth

  const asks = async (name: string) => {
    await eventually(`it asks for ${name}`, async () => {
      const { step, pending_fields } = await person.invocations.retrieve(id)
      return step === 'awaiting_input' && pending_fields?.at(-1)?.name === name
    })
    return person.invocations.retrieve(id)
  }
  const first = await asks('password')
  assert.equal(first.status, 'IN_PROGRESS')
  assert.equal(first.type, 'login')
  assert.equal(first.domain, 'code.example')
  assert.equal(first.app_name, 'Berth')
  assert.deepEqual(
    first.pending_fields!.map(({ name, type }) => [name, type]),
    [
      ['email', 'email'],
      ['password', 'password'],
    ],
  )
  // The token opens this invocation only.
  const other = await auth.create({ domain: 'plain.example', profile_name: 'agent-other' })
  const { invocation_id: others } = await invocations.create({ auth_agent_id: other.id })
  await assert.rejects(person.invocations.retrieve(others), { status: 401 })
  await assert.rejects(person.retrieve(agent.id), { status: 401 })

  const two = { field_values: { email: 'me' }, sso_button: '//a' } as never
  await assert.rejects(person.invocations.submit(id, two), { status: 400 })
  await assert.rejects(person.invocations.submit(id, {} as never), { status: 400 })
  const typed = { email: 'me@code.example', password: 'right' }
  assert.equal((await person.invocations.submit(id, { field_values: typed })).accepted, true)
  await asks('code')
  await person.invocations.submit(id, { field_values: { code: '123456' } })
  await eventually('it succeeds', async () => (await invocations.retrieve(id)).status === 'SUCCESS')
  const done = await person.invocations.retrieve(id)
  assert.equal(done.step, 'completed')
  assert.equal(done.pending_fields, null)
  assert.equal(done.live_view_url, null)
  await assert.rejects(invocations.submit(id, { field_values: typed }), { status: 422 })
  const shown = await auth.retrieve(agent.id)
  assert.equal(shown.status, 'AUTHENTICATED')
  assert.equal(shown.post_login_url, 'https://code.example/home')
  assert.deepEqual(shown.credential, { name: 'agent-saved' })
  assert.deepEqual((await newest.credentials.retrieve('agent-saved')).value_keys?.toSorted(), [
    'email',
    'password',
  ])

  // An earlier invocation stays readable with a key, and takes nothing.
  const { invocation_id: next } = await invocations.create({ auth_agent_id: agent.id })
  assert.notEqual(next, id)
  assert.equal((await invocations.retrieve(id)).status, 'SUCCESS')
  await assert.rejects(invocations.submit(id, { field_values: typed }), { status: 422 })
  await auth.delete(agent.id)
  await auth.delete(other.id)
})

test('client 0.32.0 chooses a button or a second factor, and nothing is saved without a name', async () => {
  const agent = await auth.create({ domain: 'choice.example', profile_name: 'agent-choice' })
  const ways = [{ sso_button: '//*[@id="google"]' }, { selected_mfa_type: 'sms' as const }]
  for (const way of ways) {
    const { invocation_id: id } = await invocations.create({ auth_agent_id: agent.id })
    await eventually('it asks', async () => (await invocations.retrieve(id)).step === 'awaiting_input')
    const { mfa_options, pending_sso_buttons } = await invocations.retrieve(id)
    assert.equal(mfa_options![0]!.type, 'sms')
    assert.equal(pending_sso_buttons![0]!.provider, 'google')
    assert.equal((await invocations.submit(id, way)).accepted, true)
    await eventually('it asks for the password', async () => {
      return (await invocations.retrieve(id)).pending_fields?.at(-1)?.name === 'password'
    })
    await invocations.submit(id, { field_values: { email: 'me', password: 'right' } })
    await eventually('it succeeds', async () => (await invocations.retrieve(id)).status === 'SUCCESS')
  }
  assert.equal((await auth.retrieve(agent.id)).credential, undefined)
  await assert.rejects(invocations.create({ auth_agent_id: 'absent' }), { status: 404 })
  await assert.rejects(invocations.retrieve('absent'), { status: 404 })
  await auth.delete(agent.id)
})

test('client 0.24.0 says target_domain', async () => {
  const { agents } = client24(server)
  const made = await agents.auth.create({ target_domain: 'plain.example', profile_name: 'agent-target' })
  assert.equal(made.domain, 'plain.example')
  const found: string[] = []
  for await (const each of agents.auth.list({
    target_domain: 'plain.example',
    profile_name: 'agent-target',
  })) {
    found.push(each.id)
  }
  assert.deepEqual(found, [made.id])
  const begun = await agents.auth.invocations.create({ auth_agent_id: made.id })
  assert.ok('status' in begun && begun.status === 'invocation_created')
  const id = (begun as { invocation_id: string }).invocation_id
  assert.equal((await agents.auth.invocations.retrieve(id)).target_domain, 'plain.example')
  await eventually('it asks', async () => {
    return (await client.agents.auth.invocations.retrieve(id)).step === 'awaiting_input'
  })
  const values = { field_values: { email: 'me', password: 'right' } }
  assert.equal((await agents.auth.invocations.submit(id, values)).success, true)
  await eventually('it succeeds', async () => {
    return (await agents.auth.invocations.retrieve(id)).status === 'SUCCESS'
  })
  const both = { target_domain: 'a.example', domain: 'b.example', profile_name: 'x' }
  assert.equal((await send(server, 'POST', '/agents/auth', both)).status, 400)
  assert.equal((await send(server, 'POST', '/agents/auth', { profile_name: 'x' })).status, 400)
  await agents.auth.delete(made.id)
})
