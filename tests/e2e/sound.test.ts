// What a session plays: nothing runs for it until then, and then it is in the recording that asked for it, at the right
// time, and nowhere else.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { withCdp } from '../fixtures/cdp.ts'
import { eventually } from '../fixtures/host.ts'
import { downloadReplay, startReplay, stopReplay } from '../fixtures/replays.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession, send } from '../fixtures/sessions.ts'
import {
  heard,
  onsets,
  openSilentPage,
  playBeats,
  playTone,
  shell,
  soundOf,
  soundServers,
  stopTone,
} from '../fixtures/sound.ts'
import { EventReader } from '../fixtures/telemetry.ts'
import { framesOf, isNear, probe } from '../fixtures/video.ts'

const server = await startServer({ after }, { hasRealInstances: true })
const telemetry = { browser: { system: { enabled: true } } }
const sessions = {
  headful: await createSession(server, { headless: false, telemetry }),
  headless: await createSession(server, { headless: true, telemetry }),
}
const HERTZ = { headful: 1_000, headless: 1_700 } as const
const MAX_OFFSET_SECONDS = 0.08
const BEATS = 8
const byDistance = (one: number, other: number) => Math.abs(one) - Math.abs(other)
const PLACE = { x: 100, y: 400 }

for (const [kind, session] of Object.entries(sessions) as [
  keyof typeof sessions,
  typeof sessions.headful,
][]) {
  const id = session.session_id
  const other = kind === 'headful' ? sessions.headless : sessions.headful

  describe(`a ${kind} session`, () => {
    test('has a sound server only once something plays, and says when that was', async () => {
      const reader = await EventReader.open(server, id)
      await withCdp(session.cdp_ws_url, async (cdp) => {
        await openSilentPage(cdp)
        assert.equal(await soundServers(server, id), 0)
        await playTone(cdp, HERTZ[kind])
        await reader.until('a sound has started', () => reader.ofType('sound_start').length === 1)
        assert.equal(await soundServers(server, id), 1)
        await stopTone(cdp)
        await reader.until('all is silent', () => reader.ofType('sound_stop').length === 1)
      })
      assert.ok(Number(reader.ofType('sound_stop')[0]!.data!['duration_ms']) > 0)
      reader.close()
      // Chromium leaves nothing of it in the home directory.
      assert.equal(await shell(server, id, 'ls -d ~/.config/pulse ~/.pulse* 2>/dev/null'), '')
    })

    test('is recorded with its sound, if that was asked for', async () => {
      const [loud, quiet, elsewhere] = await Promise.all([
        startReplay(server, id, { record_audio: true }),
        startReplay(server, id),
        startReplay(server, other.session_id, { record_audio: true }),
      ])
      await withCdp(session.cdp_ws_url, async (cdp) => {
        await openSilentPage(cdp)
        await delay(500)
        await playTone(cdp, HERTZ[kind])
        await delay(1_500)
        await stopTone(cdp)
        await delay(500)
      })
      await stopReplay(server, id, loud)
      await stopReplay(server, id, quiet)
      await stopReplay(server, other.session_id, elsewhere)

      const video = await downloadReplay(server, id, loud)
      const { streams, format } = probe(video)
      assert.deepEqual(
        streams.map(({ codec_name }) => codec_name),
        ['h264', 'aac'],
      )
      const sound = soundOf(video)
      const seconds = heard(sound, HERTZ[kind]).length * 0.02
      // A busy machine leaves holes.
      assert.ok(seconds > 0.5 && seconds < 3, `the tone is heard for ${seconds} s`)
      assert.deepEqual(heard(sound, HERTZ[kind === 'headful' ? 'headless' : 'headful']), [])
      assert.ok(Math.abs(sound.length / 44_100 - Number(format.duration)) < 0.1)

      assert.equal(probe(await downloadReplay(server, id, quiet)).streams.length, 1)
      const silence = soundOf(await downloadReplay(server, other.session_id, elsewhere))
      assert.ok(silence.length > 44_100)
      assert.ok(
        silence.every((sample) => Math.abs(sample) < 0.001),
        'another session heard it',
      )
    })

    test('has sound and picture at the same time', async (t) => {
      const video = await withCdp(session.cdp_ws_url, async (cdp) => {
        await openSilentPage(cdp)
        const replay = await startReplay(server, id, { record_audio: true, framerate: 20 })
        await playBeats(cdp, { hertz: HERTZ[kind], beats: BEATS })
        await stopTone(cdp)
        await delay(500)
        await stopReplay(server, id, replay)
        return downloadReplay(server, id, replay)
      })
      const beeps = onsets(soundOf(video), HERTZ[kind])
      const frames = framesOf(video, PLACE)
      const isWhite = (index: number) =>
        frames[index] !== undefined && isNear(frames[index].colour, [255, 255, 255])
      const flashes = frames.flatMap(({ seconds }, index) =>
        isWhite(index) && !isWhite(index - 1) ? seconds : [],
      )
      const seen = `beeps ${beeps.map((each) => each.toFixed(3)).join()}, flashes ${flashes.join()}`
      // A busy machine skips pictures, and sound; what came belongs together.
      const offsets = flashes
        .map((flash) => beeps.map((beep) => beep - flash).toSorted(byDistance)[0] ?? Infinity)
        .filter((offset) => Math.abs(offset) < 0.5)
        .toSorted(byDistance)
      t.diagnostic(`sound after picture: ${offsets.map((each) => Math.round(each * 1000)).join(', ')} ms`)
      assert.ok(offsets.length >= BEATS / 2, seen)
      const median = offsets[Math.floor(offsets.length / 2)]!
      assert.ok(Math.abs(median) <= MAX_OFFSET_SECONDS, `${median.toFixed(3)} s apart: ${seen}`)
    })
  })
}

test('a session from the start, and one that goes on in another size, is recorded with its sound', async () => {
  const session = await createSession(server, { headless: false, record: { record_audio: true } })
  const id = session.session_id
  await withCdp(session.cdp_ws_url, async (cdp) => {
    await openSilentPage(cdp)
    await playTone(cdp, 800)
    // What the first recording holds.
    await delay(1_500)
    const resized = await send(server, 'PATCH', `/browsers/${id}`, {
      viewport: { width: 1280, height: 800, force: true },
    })
    assert.equal(resized.status, 200, JSON.stringify(resized.body))
    await delay(1_500)
  })
  await send(server, 'DELETE', `/browsers/${id}`)
  let replays: { replay_id: string }[] = []
  await eventually('both recordings are there', async () => {
    replays = (await send<typeof replays>(server, 'GET', `/browsers/${id}/replays`)).body
    return replays.length === 2
  })
  for (const replay of replays) {
    const sound = soundOf(await downloadReplay(server, id, replay))
    assert.ok(heard(sound, 800).length > 0, `${replay.replay_id} is silent`)
  }
})
