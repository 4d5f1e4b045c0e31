// The explanation of logins and health checks over the API. The sites are fake; what the engine says is tested beside it.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { LoginExplanation } from '@berth/contracts/auth-connections'
import { problemsOf } from '@berth/login/explain/report'
import { begin, connect, loggedIn, reaches, timeline } from '../fixtures/auth-connections.ts'
import { startServer } from '../fixtures/server.ts'
import { query, send } from '../fixtures/sessions.ts'

const server = await startServer({ after })
const PATH = '/auth/connections'

async function explain(id: string, pages = false) {
  const [event] = await timeline(server, id)
  const path = `${PATH}/${id}/timeline/${event!.id}`
  const { status, body } = await send<LoginExplanation>(server, 'GET', `${path}${pages ? '?pages=true' : ''}`)
  assert.equal(status, 200, JSON.stringify(body))
  return { path, body }
}

test('a login is explained, with a picture of each page', async () => {
  const { id } = await connect(server, 'captcha')
  await begin(server, id)
  await reaches(server, id, 'FAILED')
  const { path, body } = await explain(id)
  assert.equal(body.connection_id, id)
  assert.equal(body.status, 'FAILED')
  assert.equal(body.error_code, 'captcha_blocked')
  const [step] = body.steps
  assert.equal(step?.number, 1)
  assert.equal(step.reason, 'find_login')
  assert.equal(step.why, 'It looks for the login')
  assert.deepEqual(step.did, ['opened https://captcha.example/'])
  assert.equal(step.url, 'https://captcha.example/')
  assert.equal(step.has_picture, true)
  assert.equal(step.has_photo, false)
  assert.equal(step.page, undefined)
  const picture = await server.fetch(`${path}/steps/1/picture`)
  assert.equal(picture.status, 200)
  assert.equal(picture.headers.get('content-type'), 'image/svg+xml')
  assert.match(picture.headers.get('content-security-policy') ?? '', /sandbox/)
  assert.match(await picture.text(), /^<svg .*E-mail address.*identifier/s)
  assert.equal((await server.fetch(`${path}/steps/2/picture`)).status, 404)
})

test('with its pages an explanation is a report, from which a test is made', async () => {
  const { id } = await loggedIn(server, 'plain')
  const { body } = await explain(id, true)
  const [step] = body.steps
  assert.deepEqual(step?.read, { form: { kind: 'login', fields: ['identifier email', 'password password'] } })
  const fixture = { about: '', page: step.page as never, read: {}, wanted: { obstacle: null } }
  assert.deepEqual(problemsOf(fixture), [])
})

test('health checks are explained, too', async () => {
  const { id } = await loggedIn(server, 'checked')
  assert.equal((await send(server, 'POST', `${PATH}/${id}/check`)).status, 200)
  const { body } = await explain(id)
  assert.equal(body.type, 'health_check')
  assert.equal(body.steps[0]?.reason, 'check_session')
})

test('nobody reads steps of another connection, and deleting one deletes them', async () => {
  const { id } = await loggedIn(server, 'one')
  const { id: other } = await loggedIn(server, 'other')
  const [event] = await timeline(server, id)
  const path = `timeline/${event!.id}`
  assert.equal((await send(server, 'GET', `${PATH}/${other}/${path}`)).status, 404)
  assert.equal((await server.fetch(`${PATH}/${other}/${path}/steps/1/picture`)).status, 404)
  const rows = () => query(server, 'SELECT number FROM auth_steps WHERE entry_id = $1', [event!.id])
  assert.equal((await rows()).length, 1)
  // What is stored is sealed.
  const [sealed] = await query<{ sealed: string }>(
    server,
    "SELECT encode(sealed, 'escape') || encode(sealed_page, 'escape') AS sealed FROM auth_steps LIMIT 1",
  )
  assert.doesNotMatch(sealed!.sealed, /opened|form of kind/)
  await send(server, 'DELETE', `${PATH}/${id}`)
  assert.equal((await rows()).length, 0)
})
