// The resource `replays` in each version of the published client, with a key and below base_url.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { startServer } from '../fixtures/server.ts'
import { probe } from '../fixtures/video.ts'
import { client55, client70, client84 } from './versions.ts'

const server = await startServer({ after }, { hasRealInstances: true })
const session = await client84(server).browsers.create({ headless: true, timeout_seconds: 300 })
const id = session.session_id

for (const [version, newClient] of Object.entries({
  '0.55.0': client55,
  '0.70.0': client70,
  '0.84.0': client84,
})) {
  describe(`client ${version}`, () => {
    const { replays } = newClient(server).browsers

    test('starts, lists, stops and downloads', async () => {
      const replay = await replays.start(id, { framerate: 10, max_duration_in_seconds: 60 })
      assert.match(replay.replay_id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
      assert.ok(Math.abs(Date.parse(replay.started_at!) - Date.now()) < 5_000)
      assert.equal(replay.finished_at, null)
      const url = new URL(replay.replay_view_url!)
      assert.equal(url.origin + url.pathname, `${server.url}/browser/replays`)
      assert.equal(url.searchParams.get('replay_id'), replay.replay_id)
      assert.equal((await fetch(url)).status, 200)

      const early = await replays.download(replay.replay_id, { id })
      assert.equal(early.status, 202)
      await delay(500)
      await replays.stop(replay.replay_id, { id })
      // Again, like a client that lost the answer.
      await replays.stop(replay.replay_id, { id })
      const listed = (await replays.list(id)).find(({ replay_id }) => replay_id === replay.replay_id)
      assert.ok(listed?.finished_at)

      let answer = await replays.download(replay.replay_id, { id })
      for (let tries = 0; answer.status === 202 && tries < 50; tries++) {
        await delay(100)
        answer = await replays.download(replay.replay_id, { id })
      }
      assert.equal(answer.status, 200)
      assert.equal(answer.headers.get('content-type'), 'video/mp4')
      const video = Buffer.from(await answer.arrayBuffer())
      assert.equal(probe(video).streams[0]!.codec_name, 'h264')
    })

    test('starts a recording without a body, too', async () => {
      const replay = await replays.start(id)
      await replays.stop(replay.replay_id, { id })
    })
  })
}

test('works below base_url with the session token', async () => {
  const token = new URL(session.cdp_ws_url).searchParams.get('jwt')!
  const at = (path: string, init?: RequestInit) =>
    fetch(`${session.base_url}/replays${path}?jwt=${token}`, init)
  const started = await at('', { method: 'POST' })
  assert.equal(started.status, 201)
  const { replay_id } = (await started.json()) as { replay_id: string }
  const listed = (await (await at('')).json()) as { replay_id: string }[]
  assert.ok(listed.some((each) => each.replay_id === replay_id))
  assert.equal((await at(`/${replay_id}`)).status, 202)
  assert.equal((await at(`/${replay_id}/stop`, { method: 'POST' })).status, 200)
  let status = 202
  for (let tries = 0; status === 202 && tries < 50; tries++) {
    await delay(100)
    const answer = await at(`/${replay_id}`)
    status = answer.status
    await answer.arrayBuffer()
  }
  assert.equal(status, 200)
})
