// What the agent takes and refuses, by the checks as they are in the bundle and as they are outside of it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operations } from '@berth/contracts/operations'
import { checks as apps } from '../apps/apps.checks.ts'
import { checks as computer } from '../control/computer/computer.checks.ts'
import { checks as curl } from '../control/curl/curl.checks.ts'
import { checks as files } from '../control/files/files.checks.ts'
import { checks as playwright } from '../control/playwright/playwright.checks.ts'
import { checks as repl } from '../control/repl/repl.checks.ts'
import { checks as processes } from '../control/processes/processes.checks.ts'
import { checks as webMcp } from '../control/webmcp/webmcp.checks.ts'
import { checks as link } from '../link/link.checks.ts'
import { checks as login } from '../login/orders.checks.ts'
import { checks as recording } from '../recording/recording.checks.ts'
import { checked, type Check } from './check.ts'
import { generate } from './generate.ts'

type Named = Readonly<Record<string, Check<unknown>>>

/** Runs the generated code alone: what it would need besides is not there. */
async function generated(checks: Named): Promise<Named> {
  // SAFETY: compile.ts adds the source to each check.
  const code = generate(checks as unknown as Parameters<typeof generate>[0])
  assert.doesNotMatch(code, /\brequire\(|\bimport\b/)
  const module = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as { checks: Named }
  return module.checks
}

const start = { headless: true, width: 1280, height: 720, kiosk: false }
const order = { pythonIndex: 'https://a.example', entrypoint: 'a.ts', env: {}, ownEnv: {}, memoryMb: 512 }
const setup = { runtime: 'node', entrypoint: 'a.ts', env: { A: 'b' }, memoryMb: 512, spares: 1 }
const point = [1, 1]
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
  [computer, 'captureScreenshot', {}],
  [computer, 'clickMouse', { x: 0, y: 32_767, button: 'left', num_clicks: 1, hold_keys: ['Shift'] }],
  [computer, 'batchComputerActions', { actions: [{ type: 'sleep', sleep: { duration_ms: 0 } }] }],
  [computer, 'dragMouse', { path: [point, point] }],
  [computer, 'moveMouse', { x: 1, y: 1, smooth: false }],
  [computer, 'pressKey', { keys: ['ctrl+a'] }],
  [computer, 'scroll', { x: 1, y: 1, delta_y: -3 }],
  [computer, 'setCursorVisibility', { hidden: true }],
  // As many characters as the server allows, and twice as many units of a string.
  [computer, 'typeText', { text: '😀'.repeat(100_000) }],
  [computer, 'writeClipboard', { text: '' }],
  [curl, 'curlBrowser', { url: 'https://a.example/', headers: { 'X-A': 'b' }, timeout_ms: 1000 }],
  [files, 'createDirectory', { path: '/tmp/ä', mode: '0755' }],
  [files, 'deleteDirectory', { path: '/tmp/x' }],
  [files, 'deleteFile', { path: '/tmp/x' }],
  [files, 'moveFile', { src_path: '/a', dest_path: '/b' }],
  [files, 'setFilePermissions', { path: '/a', mode: '644', owner: 'kernel' }],
  [files, 'startWatch', { path: '/a', recursive: true }],
  [playwright, 'executePlaywrightCode', { code: 'return 1', timeout_sec: 300 }],
  [playwright, 'executePlaywrightCode', { code: 'return 1', executor: 'a.B_c-1' }],
  [repl, 'executeRepl', { code: '', reset: true, timeout_sec: 1 }],
  [webMcp, 'invokeWebMcpTool', { tool_ref: 'x', input: { any: ['thing'] }, timeout_sec: 300 }],
  [processes, 'execProcess', { command: '/bin/cat', args: ['\n'], cwd: null, env: { A: 'b' } }],
  [processes, 'killProcess', {}],
  [processes, 'resizeProcess', { rows: 1, cols: 65_535 }],
  [processes, 'spawnProcess', { command: 'top', allocate_tty: true, rows: 24, cols: 80 }],
  [processes, 'writeProcessStdin', { data_b64: 'aGkK', close: true }],
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
  [
    computer,
    'captureScreenshot',
    { region: { x: 0, y: 0, width: 0, height: 1 } },
    /"region\.width" must be >= 1/,
  ],
  [computer, 'clickMouse', { x: -1, y: 0 }, /"x" must be >= 0$/],
  [
    computer,
    'batchComputerActions',
    { actions: [{ type: 'reboot' }] },
    /"actions\.0\.type" must be equal to one/,
  ],
  [computer, 'dragMouse', { path: [point, [1]] }, /"path\.1" must NOT have fewer than 2 items$/],
  [computer, 'moveMouse', { x: 1 }, /"y" is missing$/],
  [computer, 'pressKey', { keys: [] }, /"keys" must NOT have fewer than 1 items$/],
  [computer, 'scroll', { x: 1, y: 1, delta_y: 1001 }, /"delta_y" must be <= 1000$/],
  [computer, 'setCursorVisibility', { hidden: 'hunter2' }, /"hidden" must be boolean$/],
  [computer, 'typeText', { text: '😀'.repeat(100_001) }, /"text" must NOT have more than 100000 characters$/],
  [computer, 'writeClipboard', { text: ['hunter2'] }, /"text" must be string$/],
  [curl, 'curlBrowser', { url: 'file:///etc/passwd' }, /"url" must match pattern/],
  [curl, 'curlBrowser', { url: 'http://a/', headers: { 'a b': 'hunter2' } }, /"headers\.a b" is unknown$/],
  [files, 'createDirectory', { path: '/a', mode: '999' }, /"mode" must match pattern/],
  [files, 'deleteDirectory', {}, /"path" is missing$/],
  [files, 'deleteFile', { path: 'etc/passwd' }, /"path" must match pattern/],
  [files, 'moveFile', { src_path: '/a', dest_path: 1 }, /"dest_path" must be string$/],
  [files, 'setFilePermissions', { path: '/a', mode: 644 }, /"mode" must be string$/],
  [files, 'startWatch', { path: '/a', recursive: 'yes' }, /"recursive" must be boolean$/],
  [playwright, 'executePlaywrightCode', { code: '' }, /"code" must NOT have fewer than 1 characters$/],
  [playwright, 'executePlaywrightCode', { code: '1', executor: 'a b' }, /"executor" must match pattern/],
  [playwright, 'executePlaywrightCode', { code: '1', executor: '-a' }, /"executor" must match pattern/],
  [
    playwright,
    'executePlaywrightCode',
    { code: '1', executor: 'x'.repeat(65) },
    /"executor" must NOT have more than 64 characters$/,
  ],
  [repl, 'executeRepl', {}, /"code" is missing$/],
  [webMcp, 'invokeWebMcpTool', { tool_ref: 'x', input: 'hunter2' }, /"input" must be object$/],
  [repl, 'executeRepl', { code: '1', timeout_sec: 301 }, /"timeout_sec" must be <= 300$/],
  [processes, 'execProcess', { command: 'a\u0000b' }, /"command" must match pattern/],
  [processes, 'execProcess', { command: 'a', env: { A: 1 } }, /"env\.A" must be string$/],
  [processes, 'killProcess', { signal: 'STOP' }, /"signal" must be equal to one of the allowed values$/],
  [processes, 'resizeProcess', { rows: 0, cols: 1 }, /"rows" must be >= 1$/],
  [processes, 'spawnProcess', { command: 'a', shell: true }, /"shell" is unknown$/],
  [processes, 'writeProcessStdin', { data_b64: 'hunter2!' }, /"data_b64" must match pattern/],
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

test('every control operation with a JSON body has a check', () => {
  const withBody = operations.filter(({ effect, body }) => effect === 'control' && body !== undefined)
  const checks = { ...computer, ...curl, ...files, ...playwright, ...processes, ...repl, ...webMcp }
  assert.deepEqual(Object.keys(checks).toSorted(), withBody.map(({ id }) => id).toSorted())
  const tried = new Set(wrong.map(([, name]) => name))
  assert.deepEqual(
    Object.keys(checks).filter((name) => !tried.has(name)),
    [],
  )
})
