import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openLog, redact } from './logging.ts'

test('redact() removes keys and tokens from any text', () => {
  assert.equal(redact('key sk_abc123def456_0123456789 end'), 'key [redacted] end')
  assert.equal(redact('wss://host/cdp?jwt=eyJhbGciOi.x.y&a=1'), 'wss://host/cdp?jwt=[redacted]&a=1')
  assert.equal(redact('/browser/devtools/eyJh.x.y/page/A'), '/browser/devtools/[redacted]/page/A')
  assert.equal(redact('authorization: Bearer abcdef'), 'authorization: Bearer [redacted]')
  assert.equal(redact('nothing secret'), 'nothing secret')
})

test('an error is logged with its cause and without secrets', () => {
  const lines: string[] = []
  const { log } = openLog('info', { write: (line) => void lines.push(line) })
  const cause = new Error('bad jwt=secret-token')
  log.error({ err: new Error('failed for sk_abcdefabcdef_0123', { cause }) }, 'oops')
  assert.match(lines[0]!, /"message":"failed for \[redacted\]"/)
  assert.doesNotMatch(lines[0]!, /secret-token|abcdefabcdef/)
  assert.match(lines[0]!, /"cause":\{"type":"Error"/)
})
