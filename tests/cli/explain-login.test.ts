// `berth auth connections explain`, and the test of the rules that its report becomes. The sites are fake.
import assert from 'node:assert/strict'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { problemsOf, type Fixture } from '@berth/login/explain/report'
import { begin, connect, reaches } from '../fixtures/auth-connections.ts'
import { startServer, tempDir } from '../fixtures/server.ts'
import { addFixture } from '../logins/from-report.ts'
import { berthFor } from './berth.ts'

const owner = { after }
const server = await startServer(owner)
const berth = berthFor(owner, server)
const folder = tempDir(owner)

test('a failed login is explained, and its report becomes a test with one command', async () => {
  const { id } = await connect(server, 'captcha')
  const none = await berth(['auth', 'connections', 'explain', id])
  assert.notEqual(none.code, 0)
  assert.match(none.stderr, /no login yet/)
  await begin(server, id)
  await reaches(server, id, 'FAILED')
  const { code, stdout, stderr } = await berth(['auth', 'connections', 'explain', id])
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^login: FAILED, captcha_blocked/)
  assert.match(stdout, /1 .*It looks for the login \(find_login\)/)
  assert.match(stdout, /did {2}opened https:\/\/captcha\.example\//)
  const file = join(folder, 'report.json')
  const written = await berth(['auth', 'connections', 'explain', id, '--report', file])
  assert.equal(written.code, 0, written.stderr)
  assert.match(written.stderr, /Read it before you pass it on/)
  const said = addFixture(
    { file, name: 'reported', step: undefined, wanted: '{"obstacle":"captcha_blocked"}' },
    folder,
  )
  assert.match(said, /obstacle: should be "captcha_blocked", but is null/)
  const fixture = JSON.parse(readFileSync(join(folder, 'reported.json'), 'utf8')) as Fixture
  assert.equal(problemsOf(fixture).length, 1)
  assert.deepEqual(problemsOf({ ...fixture, wanted: { obstacle: null } }), [])
  rmSync(file)
})
