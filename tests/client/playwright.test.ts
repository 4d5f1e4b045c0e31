// Code that runs in the instance, through the published client and plain requests.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startServer } from '../fixtures/server.ts'
import { send } from '../fixtures/sessions.ts'
import { startSite } from '../fixtures/site.ts'
import { client55, client70, client84 } from './versions.ts'

interface Executed {
  readonly success: boolean
  readonly result?: unknown
  readonly error?: string
  readonly stdout?: string
  readonly stderr?: string
  readonly tab?: { readonly target_id: string; readonly created: boolean }
}

/** Without the tab, which every answer may name. */
function withoutTab(answer: object): Omit<Executed, 'tab'> {
  const { tab, ...others } = answer as Executed
  if (tab) assert.match(tab.target_id, /^[A-F0-9]{32}$/)
  return others
}

const owner = { after }
const site = await startSite(owner)
const server = await startServer(owner, { hasRealInstances: true, env: site.allow })
const session = await client84(server).browsers.create({ headless: true, timeout_seconds: 300 })
const path = `/browsers/${session.session_id}/playwright/execute`

async function execute(code: string, timeout_sec?: number): Promise<Executed> {
  const { status, body } = await send<Executed>(server, 'POST', path, {
    code,
    ...(timeout_sec && { timeout_sec }),
  })
  assert.equal(status, 200, JSON.stringify(body))
  return body
}

async function resultOf<T>(code: string): Promise<T> {
  const { success, result, error } = await execute(code)
  assert.ok(success, error)
  return result as T
}

const isAlive = (pid: number) =>
  resultOf<boolean>(`return (await import('node:fs')).existsSync('/proc/${pid}/status') &&
    !/State:\\s+Z/.test((await import('node:fs')).readFileSync('/proc/${pid}/status', 'utf8'))`)

test('every version of the client runs TypeScript with page, context and browser', async () => {
  const code = `interface Seen { title: string; pages: number }
    await page.goto('${site.url}/')
    const seen: Seen = { title: await page.title(), pages: context.pages().length }
    console.log('seen', seen.title)
    console.error('nothing wrong')
    return { ...seen, isConnected: browser.isConnected(), here: context.browser() === browser }`
  const expected = { title: 'Home', pages: 1, isConnected: true, here: true }
  for (const client of [client55(server), client70(server), client84(server)]) {
    const answer = await client.browsers.playwright.execute(session.session_id, { code })
    assert.deepEqual(withoutTab(answer), {
      success: true,
      result: expected,
      stdout: 'seen Home\n',
      stderr: 'nothing wrong\n',
    })
  }
})

test('the return value is JSON', async () => {
  const values: [string, unknown][] = [
    ['', null],
    ['return undefined', null],
    ['return null', null],
    ['return 0', 0],
    ['return "\\u2028 🙂"', '\u2028 🙂'],
    ['return [undefined, NaN, new Date(0)]', [null, null, '1970-01-01T00:00:00.000Z']],
    ['return JSON.parse(\'{"__proto__": 1}\')', JSON.parse('{"__proto__": 1}')],
  ]
  for (const [code, value] of values) {
    assert.deepEqual(withoutTab(await execute(`${code}\n`)), { success: true, result: value }, code)
  }
})

test('a failure says why and where', async () => {
  const failures: [string, RegExp, RegExp?][] = [
    ['throw new Error("boom")', /^boom$/, /at code\.ts:1:7/],
    ['\n  const a: number = ;', /SyntaxError.*\(line 2, column 21\)/],
    ['throw { odd: true }', /The code threw \{ odd: true \}/],
    ['return 1n', /Cannot return the result.*BigInt/],
    ['const a = {}; a.a = a; return a', /Cannot return the result.*circular/],
    ['return () => 1', /Cannot return the result: a function is not JSON/],
    ['return "x".repeat(9 * 1024 * 1024)', /Cannot return the result: 9437186 bytes/],
    ['await page.click("#absent", { timeout: 50 })', /Timeout 50ms exceeded/],
    ['console.log("bye"); process.exit(7)', /ended its own process: it ended with code 7/],
    ['const all = []; for (;;) all.push(new Array(1e6).fill(0.5))', /ended its own process/, /^$/],
  ]
  for (const [code, why, where] of failures) {
    const answer = await execute(code)
    assert.equal(answer.success, false, code)
    assert.match(answer.error!, why)
    assert.equal('result' in answer, false)
    if (where) assert.match(answer.stderr ?? '', where)
  }
  assert.deepEqual(withoutTab(await execute('return 1 + 1')), { success: true, result: 2 })
})

test('printed output is limited', async () => {
  const { stdout } = await execute('for (let n = 0; n < 100; n++) console.log("x".repeat(99_999))')
  assert.equal(stdout!.length, 1024 * 1024 + '\n[cut: more than 1 MiB]\n'.length)
  assert.ok(stdout!.endsWith('[cut: more than 1 MiB]\n'))
  // Past the runner's own limits, straight to the agent.
  const flood = await execute(`const fs = await import('node:fs')
    const junk = Buffer.alloc(1 << 20)
    for (;;) fs.writeSync(3, junk)`)
  assert.equal(flood.success, false)
  assert.equal(await resultOf('return 1 + 1'), 2)
})

test('a timeout stops the code, and nothing of it happens later', async () => {
  await resultOf(`await page.goto('${site.url}/')`)
  const began = performance.now()
  const stopped = await execute(
    `const { spawn } = await import('node:child_process')
    const child = spawn('sleep', ['600'])
    console.log(process.pid, child.pid)
    setTimeout(() => page.evaluate(() => { document.title = 'later' }), 1500)
    await page.waitForTimeout(2000)
    await page.goto('${site.url}/popup')`,
    1,
  )
  const took = performance.now() - began
  assert.equal(stopped.success, false)
  assert.equal(stopped.error, 'Execution timed out after 1000ms')
  assert.ok(took < 4000, `it took ${took} ms`)
  const [pid, childPid] = stopped.stdout!.trim().split(' ').map(Number)
  const visits = site.requests.length
  // After the times at which it would have acted.
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, 2500 - (performance.now() - began))))
  assert.equal(await resultOf('return page.title()'), 'Home')
  assert.deepEqual(site.requests.slice(visits), [])
  assert.equal(await isAlive(pid!), false)
  assert.equal(await isAlive(childPid!), false)
})

test('a timeout stops a loop that never waits', async () => {
  const stopped = await execute('console.log("in"); for (;;) {}', 1)
  assert.deepEqual(withoutTab(stopped), {
    success: false,
    error: 'Execution timed out after 1000ms',
    stdout: 'in\n',
  })
  assert.equal(await resultOf('return page.title()'), 'Home')
})

test('a caller that disconnects stops its code', async () => {
  const leaving = new AbortController()
  const marker = `/tmp/left-${process.pid}`
  const call = server.fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      code: `const fs = await import('node:fs')
        await page.goto('${site.url}/inner')
        for (;;) { fs.appendFileSync('${marker}', 'x'); await page.waitForTimeout(20) }`,
    }),
    signal: leaving.signal,
  })
  while (!site.requests.includes('/inner')) await new Promise((resolve) => setTimeout(resolve, 20))
  leaving.abort()
  await assert.rejects(call)
  // In sequence; otherwise it would wait for the other to time out.
  const sizes = await resultOf<number[]>(`const fs = await import('node:fs')
    const size = () => fs.existsSync('${marker}') ? fs.statSync('${marker}').size : 0
    const before = size()
    await page.waitForTimeout(300)
    return [before, size()]`)
  assert.equal(sizes[0], sizes[1])
})

test('calls take turns', async () => {
  const code = `globalThis.inside = (globalThis.inside ?? 0) + 1
    const before = globalThis.inside
    await page.waitForTimeout(30)
    const after = globalThis.inside
    globalThis.inside--
    return [before, after]`
  const all = await Promise.all(Array.from({ length: 4 }, () => resultOf(code)))
  for (const counts of all) assert.deepEqual(counts, [1, 1])
})

test('the page is the last used one, and is created if there is none', async () => {
  await resultOf(`await page.goto('${site.url}/'); const other = await context.newPage()
    await other.goto('${site.url}/popup'); await other.bringToFront()`)
  assert.equal(await resultOf('return page.title()'), 'Popup')
  await resultOf(`await context.pages().find((each) => each.url().endsWith('/')).bringToFront()`)
  assert.equal(await resultOf('return page.title()'), 'Home')
  await resultOf('for (const each of context.pages()) await each.close()')
  assert.equal(await resultOf('return page.url()'), 'about:blank')
  assert.equal(await resultOf('return context.pages().length'), 1)
})

test('dialogs belong to the code while it runs, and are left alone otherwise', async () => {
  await resultOf(`await page.goto('${site.url}/')`)
  assert.equal(await resultOf('return page.evaluate(() => confirm("now?"))'), false)
  await resultOf(
    `await page.evaluate(() => { setTimeout(() => { document.title = String(confirm('later?')) }, 100) })`,
  )
  const answered = await resultOf<string>(`return new Promise((resolve) => {
    page.on('dialog', async (dialog) => { await dialog.accept(); resolve(dialog.message()) })
    setTimeout(() => resolve('none'), 2000)
  })`)
  assert.equal(answered, 'later?')
})

test('works with the session token, if the client is configured so', async (t) => {
  process.env['KERNEL_BROWSER_ROUTING_SUBRESOURCES'] = 'curl,playwright'
  t.after(() => delete process.env['KERNEL_BROWSER_ROUTING_SUBRESOURCES'])
  const asked: string[] = []
  const client = client84(server, {
    fetch: (input, init) => {
      asked.push(input instanceof Request ? input.url : input.toString())
      return fetch(input, init)
    },
  })
  await client.browsers.retrieve(session.session_id)
  const answer = await client.browsers.playwright.execute(session.session_id, { code: 'return 6 * 7' })
  assert.equal(answer.result, 42)
  assert.ok(asked.at(-1)!.startsWith(`${session.base_url}/playwright/execute?jwt=`))
})

test('invalid code is refused', async () => {
  const refused = [
    {},
    { code: '' },
    { code: 'return 1', timeout_sec: 0 },
    { code: 'return 1', timeout_sec: 301 },
  ]
  for (const body of [
    ...refused,
    { code: 'return 1', timeout_sec: 1.5 },
    { code: 'return 1', language: 'js' },
  ]) {
    assert.equal((await send(server, 'POST', path, body)).status, 400, JSON.stringify(body))
  }
})

test('a warm call costs milliseconds', async (t) => {
  const times: number[] = []
  for (let round = 0; round < 30; round++) {
    const began = performance.now()
    assert.equal(await resultOf('return 1 + 1'), 2)
    times.push(performance.now() - began)
  }
  const [fastest, median] = [times.toSorted((a, b) => a - b)[0]!, times.toSorted((a, b) => a - b)[15]!]
  t.diagnostic(`return 1 + 1: ${fastest.toFixed(1)} ms at best, ${median.toFixed(1)} ms median`)
  assert.ok(fastest < 100)
})
