// Controls of an instance, with a key and with the session token, on its own server and through another.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { client84 } from '../client/versions.ts'
import { startServer } from '../fixtures/server.ts'

const server = await startServer({ after }, { hasRealInstances: true })
const { browsers } = client84(server)
const session = await browsers.create({ headless: true, timeout_seconds: 300 })
const token = new URL(session.cdp_ws_url).searchParams.get('jwt')!

test('the same operation accepts a key and the session token', async () => {
  await browsers.fs.createDirectory(session.session_id, { path: '/home/kernel/one/two', mode: '700' })
  const info = await browsers.fs.fileInfo(session.session_id, { path: '/home/kernel/one/two' })
  assert.equal(info.mode, 'drwx------')
  assert.equal(info.name, 'two')
  const url = `${session.base_url}/fs/file_info?path=/home/kernel/one/two&jwt=${token}`
  assert.deepEqual(await (await fetch(url)).json(), info)
})

test('a token opens only its own session, and only below base_url', async () => {
  for (const jwt of ['', 'rubbish', new URL(session.webdriver_ws_url).searchParams.get('jwt')!]) {
    const answer = await fetch(`${session.base_url}/fs/file_info?path=/&jwt=${jwt}`)
    assert.equal(answer.status, 401)
  }
  const asKey = await server.fetch(`/browsers/${session.session_id}/fs/file_info?path=/`, { key: token })
  assert.equal(asKey.status, 401)
})

test('a refusal of the instance is returned with its reason', async () => {
  const missing = await server.fetch(`/browsers/${session.session_id}/fs/file_info?path=/nowhere`)
  assert.equal(missing.status, 404)
  assert.match(((await missing.json()) as { message: string }).message, /"\/nowhere"/)
  const relative = await server.fetch(`/browsers/${session.session_id}/fs/file_info?path=nowhere`)
  assert.equal(relative.status, 400)
  const gone = await server.fetch(`/browsers/none/fs/file_info?path=/`)
  assert.equal(gone.status, 404)
})
