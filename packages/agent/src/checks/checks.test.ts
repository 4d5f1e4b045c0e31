// What the agent takes and refuses, by the checks as they are in the bundle and as they are outside of it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checks as apps } from '../apps/apps.checks.ts'
import { checks as link } from '../link/link.checks.ts'
import { checks as login } from '../login/orders.checks.ts'
import { checks as recording } from '../recording/recording.checks.ts'
import { checked, type Check } from './check.ts'
import { generate } from './generate.ts'

type Named = Readonly<Record<string, Check<unknown>>>

/** Runs the generated code alone: what it would need besides is not there. */
async function generated(checks: Named): Promise<Named> {
  const schemas = Object.entries(checks).map(([name, check]) => [
    name,
    (check as unknown as { source: object }).source,
  ])
  const code = generate(Object.fromEntries(schemas) as Record<string, object>)
  assert.doesNotMatch(code, /\brequire\(|\bimport\b/)
  const module = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as { checks: Named }
  return module.checks
}

const start = { headless: true, width: 1280, height: 720, kiosk: false }
const order = { pythonIndex: 'https://a.example', entrypoint: 'a.ts', env: {}, ownEnv: {}, memoryMb: 512 }
const setup = { runtime: 'node', entrypoint: 'a.ts', env: { A: 'b' }, memoryMb: 512, spares: 1 }
const waits = { quiet_ms: 0, most_ms: 60_000 }

const right: readonly (readonly [Named, string, unknown])[] = [
  [link, 'browserStart', { ...start, locale: 'de-DE', timezone: 'Europe/Berlin' }],
  [link, 'leaseRenewal', { seconds: 3600 }],
  [link, 'shape', {}],
  [link, 'shape', { start_url: 'x'.repeat(65_536) }],
  [link, 'telemetryOrder', { categories: ['console', 'of a later version'], version: 0 }],
  [login, 'lookOrder', waits],
  [login, 'visitOrder', { ...waits, url: 'https://a.example/', aside: false }],
  [login, 'actOrder', { act: 'fill', refs: ['1:a_b-c'], value: '', hosts: ['*.a.example'] }],
  [login, 'loginSecrets', { values: ['', 'x'] }],
  [recording, 'recordingStart', { id: 'a', framerate: 10, maxMs: null }],
  [apps, 'buildOrder', { ...order, git: { url: 'https://a.example', ref: 'main' } }],
  [apps, 'appSetup', setup],
]

const wrong: readonly (readonly [Named, string, unknown, RegExp])[] = [
  [link, 'browserStart', undefined, /the body is not an object$/],
  [link, 'browserStart', [start], /the body is not an object$/],
  [link, 'browserStart', { ...start, headless: 1 }, /"headless" must be boolean$/],
  [link, 'browserStart', { ...start, width: 319 }, /"width" must be >= 320$/],
  [link, 'browserStart', { ...start, height: 4321 }, /"height" must be <= 4320$/],
  [link, 'browserStart', { ...start, height: 500.5 }, /"height" must be integer$/],
  [link, 'browserStart', { ...start, locale: 'de_DE' }, /"locale" must match pattern/],
  [link, 'browserStart', { ...start, timezone: '' }, /"timezone" must match pattern/],
  [link, 'browserStart', { ...start, flags: '--x' }, /"flags" is unknown$/],
  [link, 'browserStart', JSON.parse('{"__proto__":1}'), /"headless" is missing$/],
  [link, 'shape', JSON.parse('{"__proto__":{"width":1}}'), /"__proto__" is unknown$/],
  [link, 'shape', { start_url: 'x'.repeat(65_537) }, /"start_url" must NOT have more than 65536 characters$/],
  // Two units of a string each, and one character.
  [
    link,
    'shape',
    { start_url: '😀'.repeat(32_769) },
    /"start_url" must NOT have more than 65536 characters$/,
  ],
  [link, 'leaseRenewal', { seconds: 0 }, /"seconds" must be >= 1$/],
  [link, 'leaseRenewal', { seconds: '60' }, /"seconds" must be integer$/],
  [link, 'leaseRenewal', {}, /"seconds" is missing$/],
  [link, 'telemetryOrder', { categories: [1], version: 0 }, /"categories\.0" must be string$/],
  [link, 'telemetryOrder', { categories: [], version: 2 ** 53 }, /"version" must be <= 9007199254740991$/],
  [login, 'lookOrder', { ...waits, most_ms: 60_001 }, /"most_ms" must be <= 60000$/],
  [login, 'visitOrder', { ...waits, url: 'x' }, /"aside" is missing$/],
  [login, 'actOrder', { act: 'type' }, /"act" must be equal to one of the allowed values$/],
  [login, 'actOrder', { act: 'fill', refs: ['a b'] }, /"refs\.0" must match pattern/],
  [
    login,
    'actOrder',
    { act: 'fill', refs: Array<string>(13).fill('a') },
    /"refs" must NOT have more than 12/,
  ],
  [login, 'actOrder', { act: 'fill', secret: 'hunter2' }, /"secret" is unknown$/],
  [login, 'loginSecrets', { values: ['x'.repeat(10_001)] }, /"values\.0" must NOT have more than 10000/],
  [recording, 'recordingStart', { id: '', framerate: 10, maxMs: null }, /"id" must NOT have fewer than 1/],
  [recording, 'recordingStart', { id: 'a', framerate: 0, maxMs: null }, /"framerate" must be >= 1$/],
  [recording, 'recordingStart', { id: 'a', framerate: 1, maxMs: 'x' }, /"maxMs" must be number,null$/],
  [apps, 'buildOrder', { ...order, env: { A: 1 } }, /"env\.A" must be string$/],
  [apps, 'buildOrder', { ...order, git: { url: 'x', ref: 'x', hook: 'x' } }, /"git\.hook" is unknown$/],
  [apps, 'appSetup', { ...setup, runtime: 'ruby' }, /"runtime" must be equal to one of the allowed values$/],
]

for (const kind of ['generated', 'compiled'] as const) {
  test(`${kind} checks take what the contract allows`, async () => {
    for (const [checks, name, body] of right) {
      const check = (kind === 'generated' ? await generated(checks) : checks)[name]!
      assert.equal(checked(check, body), body, name)
    }
  })

  test(`${kind} checks name the field that is wrong and what it must be, and no value`, async () => {
    for (const [checks, name, body, message] of wrong) {
      const check = (kind === 'generated' ? await generated(checks) : checks)[name]!
      assert.throws(() => checked(check, body), { status: 400, message }, `${name} ${message.source}`)
      assert.throws(
        () => checked(check, body),
        ({ message: text }: Error) =>
          text.startsWith('Cannot read the request: ') && !text.includes('hunter2'),
      )
    }
  })
}
