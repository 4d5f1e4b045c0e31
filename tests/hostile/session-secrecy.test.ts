// Session tokens are in the session's URLs and nowhere else.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chromium } from 'playwright-core'
import { WebSocket } from 'ws'
import { client84 } from '../client/versions.ts'
import { CdpClient } from '../fixtures/cdp.ts'
import { startServer } from '../fixtures/server.ts'
import type { Session } from '../fixtures/sessions.ts'
import { assertNoFaultLogged } from './server-log.ts'

const tokenOf = (url: string) => new URL(url).searchParams.get('jwt')!

test('no token of a session is in the log, the audit trail or the metrics', async (t) => {
  const server = await startServer(t, { hasRealInstances: true, env: { BERTH_LOG_LEVEL: 'debug' } })
  const { browsers } = client84(server)
  const sessions = [await browsers.create({ headless: true }), await browsers.create({ headless: true })]
  const [session, ended] = sessions as [(typeof sessions)[0], (typeof sessions)[0]]
  const token = tokenOf(session.cdp_ws_url)

  const client = await CdpClient.open(session.cdp_ws_url)
  assert.equal(await client.evaluate('1 + 1'), 2)
  await client.close()
  await fetch(`${server.url}/browser/cdp/json/version?jwt=${token}`)
  await fetch(`${server.url}/nowhere?jwt=${token}`)
  await server.fetch(`/browsers/${session.session_id}?jwt=${token}`)
  await browsers.deleteByID(ended.session_id)
  await assert.rejects(CdpClient.open(ended.cdp_ws_url))
  await assert.rejects(chromium.connect((ended as typeof ended & Session).playwright_ws_url))
  // Refused for its size, before the path is parsed.
  const long = new WebSocket(`${session.cdp_ws_url}${'a'.repeat(20_000)}`)
  await new Promise((resolve) => long.once('error', resolve))

  const day = 24 * 3_600_000
  const [start, end] = [-day, day].map((shift) => new Date(Date.now() + shift).toISOString())
  const places = {
    log: server.output(),
    audit: await (await server.fetch(`/audit-logs?start=${start}&end=${end}&limit=100`)).text(),
    metrics: await (await server.fetch('/metrics')).text(),
  }
  assert.match(places.audit, /browsers/)
  const signatures = sessions.flatMap((each) => {
    const { cdp_ws_url, webdriver_ws_url, playwright_ws_url } = each as typeof each & Session
    return [cdp_ws_url, webdriver_ws_url, playwright_ws_url].map((url) => tokenOf(url).split('.')[2]!)
  })
  for (const [place, text] of Object.entries(places)) {
    for (const signature of signatures) assert.ok(!text.includes(signature), `a token is in the ${place}`)
  }
  assertNoFaultLogged(server)
})
