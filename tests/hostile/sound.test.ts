// Programs of a session do to its sound server what they like. The session, its recording and the others are as before.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { withCdp } from '../fixtures/cdp.ts'
import { eventually } from '../fixtures/host.ts'
import { downloadReplay, startReplay, stopReplay } from '../fixtures/replays.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession } from '../fixtures/sessions.ts'
import { heard, openSilentPage, playTone, shell, soundOf, soundServers, stopTone } from '../fixtures/sound.ts'

const server = await startServer({ after }, { hasRealInstances: true })
const session = await createSession(server, { headless: false })
const id = session.session_id
const HERTZ = 900

/** In the background, so that a call of the shell ends. */
const python = (script: string) =>
  shell(
    server,
    id,
    `cat > /tmp/flood.py <<'END'\n${script}\nEND\nsetsid python3 /tmp/flood.py >/dev/null 2>&1 &`,
  )

async function playsStill(): Promise<void> {
  await withCdp(session.cdp_ws_url, async (cdp) => {
    await openSilentPage(cdp)
    assert.equal(await cdp.evaluate('6 * 7'), 42)
  })
}

test('thousands of connections and streams are the trouble of their own session only', async () => {
  const other = await createSession(server, { headless: false })
  await python(`
import os, socket, time
held = []
until = time.time() + 8
while time.time() < until:
    try:
        each = socket.socket(socket.AF_UNIX)
        each.settimeout(0.2)
        each.connect('/tmp/.sound/native')
        each.send(os.urandom(60000))
        held.append(each)
    except OSError:
        time.sleep(0.01)
    if len(held) > 900: held = held[450:]
`)
  await shell(server, id, 'for n in $(seq 60); do timeout 6 pacat --raw /dev/urandom >/dev/null 2>&1 & done')
  await playsStill()
  const replay = await startReplay(server, other.session_id, { record_audio: true })
  await withCdp(other.cdp_ws_url, async (cdp) => {
    await openSilentPage(cdp)
    await playTone(cdp, HERTZ)
    await delay(1_500)
    await stopTone(cdp)
  })
  await stopReplay(server, other.session_id, replay)
  const sound = soundOf(await downloadReplay(server, other.session_id, replay))
  assert.ok(heard(sound, HERTZ).length > 40, 'the other session plays as before')
  assert.ok((await soundServers(server, id)) <= 1)
  await playsStill()
})

test('a false sound server gets no more into a recording than there was time for', async () => {
  await eventually(
    'the flood is over',
    async () => (await shell(server, id, 'pgrep -f [f]lood.py')) === '',
    30_000,
  )
  await withCdp(session.cdp_ws_url, async (cdp) => {
    await openSilentPage(cdp)
    await playTone(cdp, HERTZ)
  })
  await eventually('the sound server runs', async () => (await soundServers(server, id)) === 1)
  await python(`
import os, socket
path = '/tmp/.sound/output'
os.unlink(path)
server = socket.socket(socket.AF_UNIX)
server.bind(path)
server.listen(8)
noise = os.urandom(1 << 16)
while True:
    each, _ = server.accept()
    try:
        while True: each.send(noise)
    except OSError: pass
`)
  await eventually('it listens', async () => (await shell(server, id, 'pgrep -f [f]lood.py')) !== '')
  await delay(500)
  const replay = await startReplay(server, id, { record_audio: true })
  const startedAt = Date.now()
  await delay(4_000)
  await playsStill()
  await stopReplay(server, id, replay)
  const seconds = (Date.now() - startedAt) / 1000
  await shell(server, id, 'pkill -f [f]lood.py')
  const video = await downloadReplay(server, id, replay)
  const sound = soundOf(video)
  assert.ok(sound.length / 44_100 < seconds + 1, `${sound.length / 44_100} s of sound in ${seconds} s`)
  assert.ok(video.length < 3_000_000, `${video.length} bytes`)
})

test('a sound server that is killed again and again is refused in the end, and nothing else breaks', async () => {
  await python(`
import subprocess, socket, time
until = time.time() + 6
while time.time() < until:
    subprocess.run(['pkill', '-9', '-x', 'pulseaudio'])
    try:
        each = socket.socket(socket.AF_UNIX)
        each.connect('/tmp/.sound/native')
    except OSError: pass
    time.sleep(0.05)
`)
  await eventually('it is over', async () => (await shell(server, id, 'pgrep -f [f]lood.py')) === '', 30_000)
  await playsStill()
  const replay = await startReplay(server, id).then(
    (started) => started,
    (error: unknown) => assert.fail(String(error)),
  )
  await delay(500)
  await stopReplay(server, id, replay)
})
