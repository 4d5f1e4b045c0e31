// Small pictures of sessions, as a page that shows many of them follows them.
import assert from 'node:assert/strict'
import { after, test, type TestContext } from 'node:test'
import { chromium } from 'playwright-core'
import type { PreviewEvent } from '@berth/contracts/previews'
import { jpegSize } from '@berth/codecs/video/jpeg-size'
import { pause } from '@berth/kit/pause'
import { sessionRows } from '../fixtures/fleets.ts'
import { eventually } from '../fixtures/host.ts'
import { isNear, jpegColour } from '../fixtures/jpeg-colour.ts'
import { PreviewReader } from '../fixtures/previews.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession, readSession, send, type Session } from '../fixtures/sessions.ts'

const server = await startServer({ after }, { hasRealInstances: true })

const RED = [255, 0, 0]
const BLUE = [0, 0, 255]

async function open(t: TestContext, session: Session) {
  const browser = await chromium.connectOverCDP(session.cdp_ws_url)
  t.after(() => browser.close())
  const page = browser.contexts()[0]!.pages()[0]!
  const paint = (colour: string) =>
    page.evaluate(`document.documentElement.style.background = ${JSON.stringify(colour)}`)
  return { browser, page, paint }
}

const of = (session: Session) => (event: PreviewEvent) => event.id === session.session_id

function shows(session: Session, colour: readonly number[]) {
  return (event: PreviewEvent) => {
    if (!of(session)(event) || event.state !== 'picture') return false
    const jpeg = Buffer.from(event.data!, 'base64')
    const { width, height } = jpegSize(jpeg)!
    return isNear(jpegColour(jpeg, { x: (width >> 2) * 2, y: ((height * 3) >> 3) * 2 }), colour)
  }
}

test('a stream shows headless and headful sessions, and only what changes', async (t) => {
  const sessions = await Promise.all([true, false].map((headless) => createSession(server, { headless })))
  const pages = await Promise.all(sessions.map((session) => open(t, session)))
  await Promise.all(pages.map(({ paint }) => paint('red')))
  const ids = sessions.map(({ session_id }) => session_id).join()
  const reader = await PreviewReader.open(t, server, { ids, width: 200 })
  for (const session of sessions) {
    const { data } = await reader.until('red picture', shows(session, RED))
    assert.equal(jpegSize(Buffer.from(data!, 'base64'))!.width, 200)
  }
  // What is painted late has been painted by then.
  await pause(2_000)
  const count = reader.events.length
  await pause(3_000)
  assert.equal(reader.events.length, count, 'nothing is sent while nothing changes')
  await pages[1]!.paint('blue')
  await reader.until('blue picture', shows(sessions[1]!, BLUE), { from: count })
  assert.ok(!reader.events.slice(count).some(of(sessions[0]!)), 'the other session is not sent again')
  const etags = reader.events.filter(of(sessions[1]!)).map(({ etag }) => etag)
  assert.equal(new Set(etags).size, etags.length)
})

test('watching neither wakes a session from standby nor keeps it from it', async (t) => {
  const [session] = [await createSession(server)]
  const { browser, paint } = await open(t, session)
  await paint('red')
  const reader = await PreviewReader.open(t, server, { ids: session.session_id })
  await reader.until('picture', shows(session, RED))
  const stateOf = async () => (await sessionRows(server)).find(({ id }) => id === session.session_id)!.state
  await browser.close()
  const began = performance.now()
  await reader.until('standby', ({ state }) => state === 'standby')
  const tookMs = performance.now() - began
  assert.ok(tookMs < 5_000 + 4_000, `standby came after ${Math.round(tookMs)} ms`)
  await eventually('the row says so', async () => (await stateOf()) === 'standby')
  const count = reader.events.length
  const another = await PreviewReader.open(t, server, { ids: session.session_id, width: 100 })
  await another.until('standby', ({ state }) => state === 'standby')
  await pause(4_000)
  assert.equal(await stateOf(), 'standby')
  assert.equal(reader.events.length, count)
  const again = await open(t, session)
  await again.paint('blue')
  await reader.until('blue picture', shows(session, BLUE), { from: count })
})

test('watching does not delay a timeout, and the stream ends with its last session', async (t) => {
  const session = await createSession(server, { timeout_seconds: 10 })
  const began = performance.now()
  const reader = await PreviewReader.open(t, server, { ids: `${session.session_id},no-such-session` })
  await reader.until('end', ({ id, state }) => id === 'no-such-session' && state === 'ended')
  await reader.until('end', (event) => of(session)(event) && event.state === 'ended')
  assert.ok(performance.now() - began < 10_000 + 6_000)
  assert.equal((await readSession(server, session.session_id)).end_reason, 'timed_out')
  await reader.over()
})

test('pages that hang do not hold up the pictures of others', async (t) => {
  const hung = await Promise.all(Array.from({ length: 2 }, () => createSession(server)))
  const session = await createSession(server)
  const { paint } = await open(t, session)
  for (const each of hung) {
    const { page } = await open(t, each)
    void page.evaluate('for (const end = Date.now() + 8_000; Date.now() < end;);').catch(() => {})
  }
  const ids = [...hung, session].map(({ session_id }) => session_id).join()
  const reader = await PreviewReader.open(t, server, { ids })
  for (const [colour, wanted] of [
    ['red', RED],
    ['blue', BLUE],
  ] as const) {
    const began = performance.now()
    await paint(colour)
    await reader.until(colour, shows(session, wanted))
    assert.ok(performance.now() - began < 3_000)
  }
  for (const each of hung)
    await reader.until('picture', (event) => of(each)(event) && event.state === 'picture')
})

test('a session that is deleted while it is watched ends for its watchers', async (t) => {
  const session = await createSession(server)
  const reader = await PreviewReader.open(t, server, { ids: session.session_id })
  await reader.until('picture', ({ state }) => state === 'picture')
  assert.equal((await send(server, 'DELETE', `/browsers/${session.session_id}`)).status, 204)
  await reader.until('end', ({ state }) => state === 'ended')
  await reader.over()
})
