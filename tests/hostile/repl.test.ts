// Code in executors and the REPL that does its worst. The session goes on, and so do its other executors.
import assert from 'node:assert/strict'
import { after, afterEach, test } from 'node:test'
import { startServer } from '../fixtures/server.ts'
import { createSession, send } from '../fixtures/sessions.ts'

interface Replied {
  readonly success: boolean
  readonly repl_id: string
  readonly content?: readonly { readonly type: string; readonly channel?: string; readonly text?: string }[]
  readonly content_truncated?: boolean
  readonly error?: string
  readonly repl_terminated?: boolean
}

const server = await startServer({ after }, { hasRealInstances: true })
const session = await createSession(server)
const at = (path: string) => `/browsers/${session.session_id}${path}`

async function run(code: string, more: object = {}): Promise<Replied> {
  const { status, body } = await send<Replied>(server, 'POST', at('/repl'), {
    code,
    timeout_sec: 30,
    ...more,
  })
  assert.equal(status, 200, JSON.stringify(body).slice(0, 500))
  return body
}

async function execute(
  executor: string,
  code: string,
): Promise<{ success: boolean; result?: unknown; error?: string }> {
  const { status, body } = await send<{ success: boolean; result?: unknown; error?: string }>(
    server,
    'POST',
    at('/playwright/execute'),
    { executor, code, timeout_sec: 30 },
  )
  assert.equal(status, 200, JSON.stringify(body).slice(0, 500))
  return body
}

const textOf = ({ content = [] }: Replied) => content.map(({ text = '' }) => text).join('')

async function programs(): Promise<string> {
  const args = ['-c', `cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '`]
  const { body } = await send<{ stdout_b64: string }>(server, 'POST', at('/process/exec'), {
    command: 'sh',
    args,
  })
  return Buffer.from(body.stdout_b64, 'base64').toString()
}

afterEach(async () => {
  assert.equal(textOf(await run('1 + 1', { reset: true })), '2\n', 'the REPL right after')
  assert.equal((await execute('other', 'return 1 + 1')).result, 2, 'an executor right after')
})

test('floods of output are cut', async () => {
  const printed = await run(
    `const line = 'x'.repeat(99_999); for (let n = 0; n < 1_000; n++) console.log(line)`,
  )
  assert.equal(printed.success, true)
  assert.equal(printed.content_truncated, true)
  assert.ok(textOf(printed).length <= 256 * 1024)
  const shown = await run(`for (let n = 0; n < 100_000; n++) display(n)`)
  assert.ok(textOf(shown).length <= 256 * 1024)
  const value = await run(`Array.from({ length: 1e5 }, () => 'x'.repeat(100))`)
  assert.ok(textOf(value).length <= 256 * 1024)
  // After the call, when nobody waits.
  await run(`setInterval(() => console.log(line), 1)`)
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  const later = await run('1')
  assert.ok(textOf(later).length <= 256 * 1024)
})

test('junk on the socket to the agent ends the process alone', async () => {
  const flood = await run(`const fs = require('node:fs'); const junk = Buffer.alloc(1 << 20, 200)
    for (;;) fs.writeSync(3, junk)`)
  assert.deepEqual([flood.success, flood.repl_terminated], [false, true])
  // Well-formed messages: ends without a run, results that are no JSON, tabs that are none, other kinds.
  const frames = await run(`const fs = require('node:fs')
    const frame = (kind, text) => { const head = Buffer.alloc(5); head[0] = kind; head.writeUInt32BE(text.length, 1)
      fs.writeSync(3, Buffer.concat([head, Buffer.from(text)])) }
    for (const kind of [2, 7, 8, 99, 11]) frame(kind, '{"target_id":{"x":1}')
    frame(6, 'no JSON')`)
  assert.equal(frames.success, false)
  const forged = await execute(
    'one',
    `const fs = await import('node:fs')
    const frame = (kind, text) => { const head = Buffer.alloc(5); head[0] = kind; head.writeUInt32BE(text.length, 1)
      fs.writeSync(3, Buffer.concat([head, Buffer.from(text)])) }
    frame(7, JSON.stringify({ target_id: '<script>', created: 'x' })); frame(7, 'x'); return 1`,
  )
  assert.deepEqual(Object.keys(forged).toSorted(), ['result', 'success', 'tab'])
})

test('code that kills itself or its agent ends only itself', async () => {
  for (const signal of ['SIGKILL', 'SIGSEGV', 'SIGSTOP']) {
    const ended = await run(
      `process.kill(process.pid, '${signal}'); await new Promise((resolve) => setTimeout(resolve, 60_000))`,
      {
        timeout_sec: 2,
      },
    )
    assert.deepEqual([ended.success, ended.repl_terminated], [false, true], signal)
  }
  const killed = await run(`const killed = []
    for (const pid of require('node:fs').readdirSync('/proc').filter(Number).map(Number)) {
      const command = (() => { try { return require('node:fs').readFileSync('/proc/' + pid + '/cmdline', 'utf8') } catch { return '' } })()
      if (!command.includes('agent.mjs')) continue
      try { process.kill(pid, 'SIGKILL'); killed.push(pid) } catch {}
    }
    killed.length`)
  assert.equal(textOf(killed), '0\n', killed.error)
})

test('programs that it leaves behind end with it', async () => {
  await run(`const { spawn } = require('node:child_process')
    for (let n = 0; n < 20; n++) spawn('sleep', ['4242']).unref()
    1`)
  assert.match(await programs(), /sleep 4242/)
  await run('1', { reset: true })
  assert.doesNotMatch(await programs(), /sleep 4242/)
})

test('endless forks are stopped by the limit of the session', async () => {
  const forked = await run(
    `const { spawn } = require('node:child_process'); let errors = 0
    for (let n = 0; n < 3_000 && errors < 10; n++) spawn('sleep', ['4243']).on('error', () => errors++)
    await new Promise((resolve) => setTimeout(resolve, 500)); errors > 0`,
    { timeout_sec: 60 },
  )
  assert.ok(
    textOf(forked).includes('true') || forked.repl_terminated || !forked.success,
    JSON.stringify(forked).slice(0, 500),
  )
  await run('1', { reset: true })
  assert.doesNotMatch(await programs(), /sleep 4243/)
})

test('too much memory ends the process and not the session', async () => {
  const ended = await run('const all = []; for (;;) all.push(new Array(1e6).fill(0.5))')
  assert.deepEqual([ended.success, ended.repl_terminated], [false, true])
})

test('globals that are replaced break only their own process', async () => {
  await run(`Object.defineProperty(Object.prototype, 'kind', { set() { throw new Error('trap') }, configurable: true })
    Array.prototype[Symbol.iterator] = null; JSON.stringify = () => 'x'; Buffer.from = null; Promise.prototype.then = null
    process.stdout.write = null; globalThis.page = globalThis.context = globalThis.browser = null`)
  const next = await run('1', { timeout_sec: 5 })
  assert.ok(next.repl_id.length > 0)
})

test('pages that are closed, and a browser that is closed, come back', async () => {
  await run('for (const each of context.pages()) await each.close()')
  assert.equal(textOf(await run('await page.evaluate(() => 1)')), '1\n')
  await execute('one', 'await page.close()')
  assert.equal((await execute('one', 'return page.url()')).result, 'about:blank')
  await run(
    `const cdp = await browser.newBrowserCDPSession(); await cdp.send('Browser.close').catch(() => {})`,
  )
  const { result, error } = await execute('one', 'return page.evaluate(() => 1)')
  assert.equal(result, 1, error)
})

test('values that fight being shown end in a failure or a text', async () => {
  const values = [
    `new Proxy({}, { get() { throw new Error('trap') } })`,
    `({ [Symbol.for('nodejs.util.inspect.custom')]() { throw new Error('trap') } })`,
    `Object.create(null)`,
    `(() => { const a = {}; a.a = a; return a })()`,
    `(() => { const error = new Error('x'); Object.defineProperty(error, 'stack', { get() { throw 1 } }); throw error })()`,
    `(() => { throw { toString() { throw 1 } } })()`,
    `({ then(resolve) { resolve(5) } })`,
    `({ get _guid() { throw 1 }, get _type() { return {} } })`,
    `Promise.reject(undefined)`,
    `'\\u0000\\ud800'`,
  ]
  for (const value of values) {
    const answer = await run(value)
    assert.equal(answer.repl_terminated, undefined, `${value}: ${JSON.stringify(answer)}`)
  }
})
