// Input out of bounds is refused with the bounds, before any of it is executed.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startServer } from '../fixtures/server.ts'
import { createSession } from '../fixtures/sessions.ts'

// The server alone refuses these; packages/agent/src/control/computer tests the others.
const server = await startServer({ after })
const { session_id: id } = await createSession(server)

const refused: Record<string, readonly string[]> = {
  click_mouse: [
    '{"x":-1,"y":1}',
    '{"x":1e9,"y":1}',
    '{"x":NaN,"y":1}',
    '{"x":1.5,"y":1}',
    '{"x":"1","y":1}',
    '{"x":1}',
    '{"x":1,"y":1,"num_clicks":1e9}',
    '{"x":1,"y":1,"num_clicks":0}',
    '{"x":1,"y":1,"button":"sixth"}',
    '{"x":1,"y":1,"smooth":true}',
    JSON.stringify({ x: 1, y: 1, hold_keys: Array(100_000).fill('a') }),
    JSON.stringify({ x: 1, y: 1, hold_keys: ['a'.repeat(101)] }),
  ],
  move_mouse: ['{"x":1,"y":1,"duration_ms":49}', '{"x":1,"y":1,"duration_ms":1e12}', '{"x":null,"y":1}'],
  type: [
    JSON.stringify({ text: 'x'.repeat(1_000_000) }),
    '{"text":"x","delay":1e12}',
    '{"text":"x","delay":-1}',
    '{"text":"x","typo_chance":0.5}',
    '{"text":7}',
    '{}',
  ],
  press_key: [
    '{"keys":[]}',
    JSON.stringify({ keys: Array(101).fill('a') }),
    '{"keys":["a"],"duration":1e12}',
  ],
  scroll: ['{"x":1,"y":1,"delta_y":1e9}', '{"x":1,"y":1,"delta_x":0.5}'],
  drag_mouse: [
    '{"path":[[1,1]]}',
    '{"path":[[1,1],[1]]}',
    '{"path":[[1,1],[1,1,1]]}',
    '{"path":[[1,1],[-1,1]]}',
    JSON.stringify({ path: Array.from({ length: 1_001 }, () => [1, 1]) }),
    '{"path":[[1,1],[2,2]],"steps_per_segment":1e9}',
    '{"path":[[1,1],[2,2]],"button":"back"}',
  ],
  screenshot: ['{"region":{"x":0,"y":0,"width":0,"height":1}}', '{"region":{"x":0,"y":0}}', '{"full":true}'],
  batch: [
    '{"actions":[]}',
    JSON.stringify({
      actions: Array.from({ length: 101 }, () => ({ type: 'sleep', sleep: { duration_ms: 0 } })),
    }),
    '{"actions":[{"type":"sleep","sleep":{"duration_ms":30001}}]}',
    '{"actions":[{"type":"screenshot"}]}',
    '{"actions":[{"type":"click_mouse","click_mouse":{"x":1,"y":1,"more":1}}]}',
  ],
  'clipboard/write': ['{}', '{"text":null}'],
  cursor: ['{"hidden":"yes"}', '{}'],
}

for (const [operation, bodies] of Object.entries(refused)) {
  test(`computer/${operation} refuses values out of bounds`, async () => {
    for (const body of bodies) {
      const answer = await server.fetch(`/browsers/${id}/computer/${operation}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      })
      assert.equal(answer.status, 400, body.slice(0, 100))
      const { code, message } = (await answer.json()) as { code: string; message: string }
      assert.equal(code, 'bad_request', body.slice(0, 100))
      assert.ok(message.length > 0 && message.length < 1_000, message.slice(0, 200))
    }
  })
}
