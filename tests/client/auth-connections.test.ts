// The resource `auth.connections` in each version of the published client. The sites are fake; see fake-logins.ts.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { eventually } from '../fixtures/host.ts'
import { sharedServer } from '../fixtures/shared-server.ts'
import { client55, client70, client84 } from './versions.ts'

const server = await sharedServer({ after })

for (const [version, newClient] of Object.entries({
  '0.55.0': client55,
  '0.70.0': client70,
  '0.84.0': client84,
})) {
  describe(`client ${version}`, () => {
    const client = newClient(server)
    const { connections } = client.auth
    const profile = `profile-of-${version}`

    test('creates, finds, lists, changes and deletes', async () => {
      const made = await connections.create({
        domain: 'Crud.Example',
        profile_name: profile,
        allowed_domains: ['*.sso.example', 'sso.example'],
      })
      assert.equal(made.domain, 'crud.example')
      assert.equal(made.profile_name, profile)
      assert.equal(made.status, 'NEEDS_AUTH')
      assert.deepEqual(made.allowed_domains, ['sso.example'])
      assert.equal(made.save_credentials, true)
      assert.equal(made.health_check_interval, 3600)
      assert.equal(made.can_reauth, false)
      assert.equal(made.can_reauth_reason, 'no_prior_successful_login')
      assert.equal(made.flow_status, null)
      assert.equal(made.hosted_url, null)
      assert.equal((await client.profiles.retrieve(profile)).name, profile)
      assert.equal((await connections.retrieve(made.id)).id, made.id)
      await assert.rejects(
        connections.create({ domain: 'crud.example', profile_name: profile }),
        (error: { status: number; error: { code: string; existing_id: string } }) =>
          error.status === 409 &&
          error.error.code === 'already_exists' &&
          error.error.existing_id === made.id,
      )
      const found: string[] = []
      for await (const each of connections.list({
        profile_name: profile,
        domain: 'crud.example',
        limit: 1,
      })) {
        found.push(each.id)
      }
      assert.deepEqual(found, [made.id])
      await connections.delete(made.id)
      await connections.delete(made.id)
      await assert.rejects(connections.retrieve(made.id), { status: 404 })
    })

    test('logs in with a person’s input, and follows the flow', async () => {
      const { id } = await connections.create({ domain: 'plain.example', profile_name: profile })
      const begun = await connections.login(id)
      assert.equal(begun.flow_type, 'LOGIN')
      assert.ok(begun.hosted_url.startsWith(`${server.url}/auth/hosted/${id}#code=`))
      const seen: string[] = []
      for await (const event of await connections.follow(id)) {
        if (event.event !== 'managed_auth_state') continue
        const last = `${event.flow_status} ${event.flow_step}`
        if (last !== seen.at(-1)) seen.push(last)
        if (event.flow_step !== 'AWAITING_INPUT') continue
        const fields = Object.fromEntries(
          event.discovered_fields!.map(({ name, type }) => [
            name,
            type === 'password' ? 'right' : 'me@plain.example',
          ]),
        )
        assert.equal((await connections.submit(id, { fields })).accepted, true)
      }
      assert.equal(seen.at(-1), 'SUCCESS COMPLETED', seen.join())
      assert.ok(seen.includes('IN_PROGRESS AWAITING_INPUT'), seen.join())
      const now = await connections.retrieve(id)
      assert.equal(now.status, 'AUTHENTICATED')
      assert.equal(now.post_login_url, 'https://plain.example/home')
      assert.equal(now.discovered_fields, null)
      assert.equal(now.hosted_url, null)
      assert.equal(now.can_reauth, true)
      // The typed values are now a credential, named after the domain.
      assert.match(now.credential!.name!, /^plain\.example/)
      assert.equal((await connections.login(id)).flow_type, 'LOGIN')
      await eventually('it logs in by itself', async () => {
        const state = await connections.retrieve(id)
        return state.flow_status === 'SUCCESS'
      })
      await connections.delete(id)
    })
  })
}

test('client 0.84.0 submits in the canonical format, and reads the timeline', async () => {
  const client = client84(server)
  const { connections } = client.auth
  const { id } = await connections.create({
    domain: 'choice.example',
    profile_name: 'canonical',
    save_credentials: false,
  })
  await connections.login(id)
  for await (const event of await connections.follow(id)) {
    if (event.event !== 'managed_auth_state' || event.flow_step !== 'AWAITING_INPUT') continue
    if (event.choices) {
      assert.deepEqual(
        event.choices.map(({ id: choice, type }) => [choice, type]),
        [
          ['google', 'sso_provider'],
          ['text', 'mfa_method'],
          ['work', 'account'],
        ],
      )
      await connections.submit(id, { selected_choice_id: 'google' })
    } else {
      const values = { email: 'me@choice.example', password: 'right' }
      await connections.submit(id, { field_values: values })
    }
  }
  const now = await connections.retrieve(id)
  assert.equal(now.flow_status, 'SUCCESS')
  assert.equal(now.credential, undefined)
  assert.equal(now.can_reauth_reason, 'no_credential')
  const timeline = []
  for await (const each of connections.timeline(id)) timeline.push(each)
  assert.equal(timeline.length, 1)
  assert.equal(timeline[0]!.type, 'login')
  assert.equal(timeline[0]!.status, 'SUCCESS')
  assert.equal(timeline[0]!.step, 'COMPLETED')
  assert.ok(timeline[0]!.browser_session_id)
  const updated = await connections.update(id, { health_checks: false, login_url: '', allowed_domains: [] })
  assert.equal(updated.health_checks, false)
  assert.equal(updated.login_url, undefined)
  assert.deepEqual(updated.allowed_domains, [])
})
