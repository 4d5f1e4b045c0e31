// Many parallel creates, more than the host or the organisation has room for. Used by the test (few succeed) and by
// `npm run soak` (all may succeed).
import assert from 'node:assert/strict'
import { agrees } from '../fixtures/agreement.ts'
import { withCdp } from '../fixtures/cdp.ts'
import type { TestServer } from '../fixtures/server.ts'
import { listSessions, send } from '../fixtures/sessions.ts'

export interface Burst {
  /** The number of each answer. */
  readonly answers: Readonly<Record<string, number>>
  readonly seconds: number
}

export async function burst(server: TestServer, count: number): Promise<Burst> {
  const startedAt = performance.now()
  const create = () => send(server, 'POST', '/browsers', { headless: true, timeout_seconds: 600 })
  const answers = await Promise.all(Array.from({ length: count }, create))
  const seconds = (performance.now() - startedAt) / 1000
  const counts: Record<string, number> = {}
  for (const { status, headers, body } of answers) {
    const what = `${status} ${body.code ?? ''}`.trim()
    counts[what] = (counts[what] ?? 0) + 1
    if (status === 200) continue
    assert.ok(status === 429 || status === 529, `${status}: ${JSON.stringify(body)}`)
    assert.ok(body.message!.startsWith('Cannot create a session: '), body.message)
    assert.ok(headers.get('retry-after'), 'the answer has no Retry-After')
  }
  // No session is half made: every answered session works, and no other exists.
  const made = answers.flatMap(({ status, body }) => (status === 200 ? [body] : []))
  await agrees(server)
  const listed = await listSessions(server)
  assert.deepEqual(ids(listed), ids(made))
  for (const { cdp_ws_url } of made) {
    assert.equal(await withCdp(cdp_ws_url, (cdp) => cdp.evaluate('1 + 1')), 2)
  }
  return { answers: counts, seconds }
}

function ids(sessions: readonly { session_id: string }[]): string[] {
  return sessions.map((each) => each.session_id).toSorted()
}
