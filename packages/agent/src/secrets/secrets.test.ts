import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServiceLog } from '../log/service-log.ts'
import { secrets as ofProcess, Secrets } from './secrets.ts'

const VALUE = `p&ss "w<ö>rd'/+\\%`

/** Each puts the value in the middle of a text, as pages do. */
const spellings: Record<string, (value: string) => string> = {
  plain: (value) => `x=${value};`,
  'an address': (value) => `https://a.example/?p=${encodeURIComponent(value)}&q`,
  'an address in an address': (value) =>
    encodeURIComponent(`https://a.example/?p=${encodeURIComponent(value)}`),
  'small digits': (value) => encodeURIComponent(value).replaceAll(/%../g, (digits) => digits.toLowerCase()),
  'a form': (value) => new URLSearchParams({ user: 'u', password: value }).toString(),
  JSON: (value) => JSON.stringify({ password: value }),
  'JSON in JSON': (value) => JSON.stringify({ body: JSON.stringify({ password: value }) }),
  'JSON of ASCII': (value) =>
    JSON.stringify({ value }).replaceAll(
      /[^ -~]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  HTML: (value) =>
    `<p>${value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;')}</p>`,
  base64: (value) => Buffer.from(value).toString('base64'),
  base64url: (value) => Buffer.from(value).toString('base64url'),
  'basic authentication': (value) => `Basic ${Buffer.from(`anna:${value}`).toString('base64')}`,
  'base64 of something, a byte on': (value) => Buffer.from(`{"a":"${value}"}`).toString('base64'),
  'base64 of something, two bytes on': (value) => Buffer.from(`{"ab":"${value}"}`).toString('base64url'),
}

/** Whether the value is still readable in the text, however it is decoded. */
function isIn(text: string, value: string): boolean {
  const readings = [text]
  for (let depth = 0; depth < 3; depth++) {
    const latest = readings.at(-1)!
    try {
      readings.push(decodeURIComponent(latest.replaceAll('+', ' ')))
    } catch {
      readings.push(latest)
    }
  }
  for (const run of text.match(/[\w+/-]{8,}/g) ?? []) {
    for (const offset of [0, 1, 2, 3]) readings.push(Buffer.from(run.slice(offset), 'base64').toString())
  }
  return readings.some((reading) => reading.includes(value))
}

for (const [name, spell] of Object.entries(spellings)) {
  test(`a value is hidden in ${name}`, () => {
    const secrets = new Secrets()
    secrets.add([VALUE, 'hunter2hunter2', 'S3cr3t-tok3n'])
    for (const value of [VALUE, 'hunter2hunter2', 'S3cr3t-tok3n']) {
      const told = secrets.redact(spell(value))
      assert.match(told, /\[redacted\]/)
      assert.ok(!isIn(told, value), told)
    }
  })
}

test('when one value contains another, the longest is hidden first, and none remains', () => {
  const secrets = new Secrets()
  secrets.add(['pass', 'password'])
  secrets.add(['my password'])
  assert.equal(secrets.redact('my password, password and pass'), '[redacted], [redacted] and [redacted]')
})

test('a text cut in the middle of a value does not end with the start of that value', () => {
  const secrets = new Secrets()
  secrets.add(['correct horse battery'])
  const told = secrets.redact(`${'.'.repeat(200)}correct hor`)
  assert.ok(told.endsWith('.[redacted]'))
})

test('values are hidden in the texts of an event, and its numbers stay', () => {
  const secrets = new Secrets()
  secrets.add(['":"', 'true', '123456', '1'])
  const event = {
    ts: 1_234_561_234_56,
    isIt: true,
    list: ['a":"b', { n123456: 'true' }],
    one: '1',
    none: null,
  }
  assert.deepEqual(secrets.redactAll(event), {
    ts: 123456123456,
    isIt: true,
    list: ['a[redacted]b', { 'n[redacted]': '[redacted]' }],
    // One or two characters would match everywhere.
    one: '1',
    none: null,
  })
})

test('without secrets nothing changes', () => {
  const secrets = new Secrets()
  const event = { text: 'as it was' }
  assert.equal(secrets.redactAll(event), event)
  assert.equal(secrets.isInUse, false)
  secrets.add(['x'])
  assert.equal(secrets.isInUse, true)
})

test('service logs are kept without secrets', async () => {
  const log = new ServiceLog()
  log.append(Buffer.from('before: planted-secret\n'))
  ofProcess.add(['planted-secret'])
  log.append(Buffer.from('[INFO:CONSOLE] "planted-'))
  log.append(Buffer.from('secret", source: https://a.example/?p=planted-secret\n'))
  const lines: string[] = []
  for await (const { message } of log.read({ follow: false, signal: AbortSignal.timeout(1_000) }))
    lines.push(message)
  assert.deepEqual(lines, [
    'before: planted-secret',
    '[INFO:CONSOLE] "[redacted]", source: https://a.example/?p=[redacted]',
  ])
})
