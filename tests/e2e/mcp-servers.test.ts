// One client of MCP, whose requests reach two servers in turn, as behind a load balancer: no call needs the server of the
// one before.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { newFleet, serverIdOf, sessionRows } from '../fixtures/fleets.ts'
import { overHttp, type Called } from '../fixtures/mcp.ts'
import { startSite } from '../fixtures/site.ts'

const owner = { after }
const site = await startSite(owner)
const start = await newFleet(owner, { hasRealInstances: true, env: site.allow })
const servers = [await start(), await start()] as const

async function ok(called: Promise<Called>): Promise<Called> {
  const answer = await called
  assert.equal(answer.isError, false, answer.text)
  return answer
}

for (const revision of ['newest', 'handshake'] as const) {
  test(`two servers answer one client in turn, with the ${revision} revision`, async (t) => {
    let turn = 0
    const asked: number[] = []
    const mcp = await overHttp(t, servers[0], {
      revision,
      fetch: (url, init) => {
        const at = turn++ % servers.length
        asked.push(at)
        const moved = new URL(url)
        moved.host = new URL(servers[at]!.url).host
        return fetch(moved, init)
      },
    })
    const at = { session_id: `in-turn-${revision}` }
    /** The server of the next call. */
    const next = async (wanted: 0 | 1, name: string, values: object) => {
      turn = wanted
      return ok(mcp.call(name, { ...at, ...values }))
    }
    await next(0, 'manage_browsers', {
      action: 'create',
      name: at.session_id,
      session_id: undefined,
      headless: true,
    })
    const [row] = (await sessionRows(servers[0])).filter(({ name }) => name === at.session_id)
    assert.equal(row!.server_id, serverIdOf(servers[0]))

    const opened = await next(1, 'browser_navigate', { url: site.url })
    assert.match(opened.text, /HTTP status: 200/)
    const seen = await next(0, 'browser_snapshot', {})
    const ref = /button "Press"[^\n]*\[ref=([^\]]+)\]/.exec(seen.text)![1]
    // A reference of one server's answer is good at the other.
    const clicked = await next(1, 'browser_click', { ref, snapshot: true })
    assert.match(clicked.text, /clicked/)
    await next(0, 'exec_command', { command: 'bash', args: ['-c', 'echo ahoy > /tmp/note'] })
    const read = await next(1, 'manage_browser_files', { action: 'read', path: '/tmp/note' })
    assert.match(read.text, /ahoy/)
    turn = 1
    const { contents } = await mcp.client.readResource({
      uri: `berth://sessions/${at.session_id}/files/tmp/note`,
    })
    assert.equal((contents[0] as { text: string }).text, 'ahoy\n')

    const asking = await next(1, 'hand_over_to_human', { message: 'Look' })
    const handover = asking.facts['handover_id'] as string
    const done = await servers[1].fetch(`/browsers/${at.session_id}/handovers/${handover}/finish`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ outcome: 'done', note: 'Seen' }),
    })
    assert.equal(done.status, 200)
    const heard = await next(0, 'hand_over_to_human', { handover_id: handover })
    assert.match(heard.text, /Seen/)
    await next(1, 'manage_browsers', { action: 'delete' })
    for (const server of [0, 1]) assert.ok(asked.filter((each) => each === server).length >= 4, asked.join())
  })
}
