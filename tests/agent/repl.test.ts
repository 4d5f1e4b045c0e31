// The Node process of a session that keeps its variables.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAX_REPL_TEXT_BYTES } from '@berth/contracts/repl'
import { onBothKinds } from '../fixtures/agent/both-kinds.ts'
import { eventually } from '../fixtures/host.ts'

interface Item {
  readonly type: 'text' | 'image'
  readonly channel?: string
  readonly text?: string
  readonly mime_type?: string
  readonly data_b64?: string
}

interface Answer {
  readonly success: boolean
  readonly repl_id: string
  readonly content?: readonly Item[]
  readonly content_truncated?: boolean
  readonly duration_ms: number
  readonly error?: string
  readonly stack?: string
  readonly repl_terminated?: boolean
}

onBothKinds((under) => {
  async function run(code: string, more: object = {}): Promise<Answer> {
    const { status, body } = await under.agent.call('POST', '/control/repl', { code, ...more })
    assert.equal(status, 200, JSON.stringify(body))
    return body as Answer
  }

  async function shown(code: string): Promise<readonly Item[]> {
    const { success, error, content = [] } = await run(code)
    assert.ok(success, error)
    return content
  }

  async function valueOf(code: string): Promise<string> {
    const [item, ...more] = await shown(code)
    assert.deepEqual([item?.type, item?.channel, more], ['text', 'result', []], JSON.stringify([item, more]))
    return item!.text!.trimEnd()
  }

  test('variables, functions and modules stay', async () => {
    const first = await run('const a = 1; let b = await Promise.resolve(2); function sum() { return a + b }')
    assert.deepEqual(Object.keys(first).toSorted(), ['duration_ms', 'repl_id', 'success'])
    assert.equal(await valueOf('sum()'), '3')
    assert.equal(await valueOf('const a: number = 40; sum()'), '42')
    await run('import("node:path").then((module) => { globalThis.path = module })')
    assert.equal(await valueOf('path.basename("/a/b")'), `'b'`)
    assert.equal((await run('1')).repl_id, first.repl_id)
  })

  test('what the code shows comes in order, by channel', async () => {
    const content =
      await shown(`console.log('out', { a: 1 }); console.error('wrong'); process.stdout.write('end\\n')
      display([1, 'two']); new Map([['key', 'value']])`)
    assert.deepEqual(content, [
      { type: 'text', channel: 'stdout', text: 'out { a: 1 }\n' },
      { type: 'text', channel: 'stderr', text: 'wrong\n' },
      { type: 'text', channel: 'stdout', text: 'end\n' },
      { type: 'text', channel: 'display', text: `[ 1, 'two' ]\n` },
      { type: 'text', channel: 'result', text: `Map(1) { 'key' => 'value' }\n` },
    ])
    await run(`setTimeout(() => console.log('meanwhile'), 50)`)
    await new Promise((resolve) => setTimeout(resolve, 500))
    assert.deepEqual(await shown('undefined'), [{ type: 'text', channel: 'stdout', text: 'meanwhile\n' }])
  })

  test('page, context and browser are those of the session, and images are shown', async () => {
    await run(`await page.setContent('<title>Harbour</title><h1>Ahoy</h1>')`)
    assert.equal(await valueOf('await page.title()'), `'Harbour'`)
    assert.equal(await valueOf('page.context() === context && context.browser() === browser'), 'true')
    const [picture] = await shown('await page.screenshot()')
    assert.equal(picture!.mime_type, 'image/png')
    assert.equal(Buffer.from(picture!.data_b64!, 'base64').subarray(1, 4).toString(), 'PNG')
    const content = await shown(
      `display(await page.screenshot({ type: 'jpeg' })); console.log('between'); await page.screenshot()`,
    )
    assert.deepEqual(
      content.map(({ type, mime_type, text }) => [type, mime_type ?? text]),
      [
        ['image', 'image/jpeg'],
        ['text', 'between\n'],
        ['image', 'image/png'],
      ],
    )
    // Objects of Playwright hold all the others.
    assert.ok((await valueOf('page')).length < 200)
    assert.equal(
      await valueOf('const other = await context.newPage(); await other.close(); page.isClosed()'),
      'false',
    )
    await run('await page.close()')
    // On a display, Chromium ends with its last tab and starts again, and the answer says so, too.
    const last = (await shown('page.isClosed()')).at(-1)
    assert.equal(last!.text, 'false\n', 'another page takes its place')
  })

  test('a failure says what and where, and the process goes on', async () => {
    const { success, error, stack, repl_terminated } = await run('\n  throw new TypeError("no")')
    assert.deepEqual([success, error, repl_terminated], [false, 'TypeError: no', undefined])
    assert.match(stack!, /^TypeError: no\n {4}at call-\d+\.ts:2:9$/)
    assert.equal(
      (await run('let x = 1\nlet wrong = ;')).error,
      "SyntaxError: Unexpected token ';' (line 2, column 13)",
    )
    assert.equal((await run('throw { odd: true }')).error, 'The code threw { odd: true }')
    assert.match(
      (await run('await page.click("#absent", { timeout: 50 })')).error!,
      /^TimeoutError: .*50ms exceeded/,
    )
    assert.equal(await valueOf('a'), '40')
    const [item] = await shown(
      'setTimeout(() => { throw new Error("later") }); await new Promise((resolve) => setTimeout(resolve, 50))',
    )
    assert.equal(item!.channel, 'stderr')
    assert.match(item!.text!, /^Uncaught .*Error: later/)
  })

  test('a time limit ends the process, and the next has another id', async () => {
    const first = await run('globalThis.kept = 1; 1')
    const stopped = await run('console.log("begins"); for (;;) {}', { timeout_sec: 1 })
    assert.equal(stopped.repl_id, first.repl_id)
    assert.deepEqual(
      [stopped.success, stopped.error, stopped.repl_terminated],
      [false, 'Execution timed out after 1000ms', true],
    )
    assert.deepEqual(stopped.content, [{ type: 'text', channel: 'stdout', text: 'begins\n' }])
    assert.ok(stopped.duration_ms >= 990 && stopped.duration_ms < 3_000, `${stopped.duration_ms} ms`)
    const next = await run('typeof kept')
    assert.notEqual(next.repl_id, first.repl_id)
    assert.equal(next.content![0]!.text, `'undefined'\n`)
  })

  test('code that ends its process says so, and a reset begins anew', async () => {
    const ended = await run('console.log("bye"); process.exit(3)')
    assert.match(ended.error!, /^The code ended its own process: it ended with code 3/)
    assert.equal(ended.repl_terminated, true)
    assert.deepEqual(ended.content, [{ type: 'text', channel: 'stdout', text: 'bye\n' }])
    const { repl_id: id } = await run('globalThis.kept = 1')
    const fresh = await run('typeof kept', { reset: true })
    assert.notEqual(fresh.repl_id, id)
    assert.deepEqual(fresh.content, [{ type: 'text', channel: 'result', text: `'undefined'\n` }])
    // Between two calls.
    await run('setTimeout(() => process.exit(), 10)')
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    const last = await run('1 + 1')
    assert.notEqual(last.repl_id, fresh.repl_id)
    assert.deepEqual(
      last.content!.map(({ text }) => text),
      ['The process of earlier calls has ended by itself\n', '2\n'],
    )
  })

  test('texts are cut at their limit', async () => {
    const { content, content_truncated } = await run(
      'for (let n = 0; n < 100; n++) console.log("x".repeat(9_999))',
    )
    assert.equal(content_truncated, true)
    assert.equal(content!.map(({ text }) => text).join('').length, MAX_REPL_TEXT_BYTES)
    assert.equal((await run('console.log("short")')).content_truncated, undefined)
  })

  test('calls take turns, and a caller that leaves ends the process', async () => {
    const { repl_id: id } = await run('globalThis.inside = 0')
    const code = `globalThis.inside++; await new Promise((resolve) => setTimeout(resolve, 50)); inside--`
    const all = await Promise.all(Array.from({ length: 4 }, () => run(code)))
    assert.deepEqual(
      all.map(({ content }) => content![0]!.text),
      Array.from({ length: 4 }, () => '1\n'),
    )
    const leaving = new AbortController()
    const body = {
      code: `globalThis.isRunning = true; await new Promise(() => setInterval(() => {}, 1000))`,
    }
    const left = under.agent.callForBytes('POST', '/control/repl', body, { signal: leaving.signal })
    const waiting = run('typeof isRunning')
    await new Promise((resolve) => setTimeout(resolve, 500))
    leaving.abort()
    await assert.rejects(left)
    const next = await waiting
    assert.notEqual(next.repl_id, id)
    assert.equal(next.content!.at(-1)!.text, `'undefined'\n`)
  })

  test('it outlives Chromium, and says that the pages are new', async () => {
    const { repl_id: id } = await run('globalThis.kept = 1; globalThis.old = page')
    const { restarts } = await under.agent.state()
    using cdp = await under.agent.openCdp()
    cdp.dispatch('Browser.crash')
    await under.agent.until((state) => state.browser === 'ready' && state.restarts > restarts)
    const next = await run('[kept, page !== old, await page.evaluate(() => 1 + 1)]')
    assert.equal(next.repl_id, id)
    assert.deepEqual(
      next.content!.map(({ text }) => text),
      ['Chromium was started again: page, context and browser are new\n', '[ 1, true, 2 ]\n'],
    )
  })

  test('it ends with the agent', async () => {
    await eventually('it runs', async () => (await run('1')).success)
    const pid = Number(await valueOf('process.pid'))
    await under.end()
    if (under.browser.headless) await eventually('its process is gone', () => !isAlive(pid))
  })
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
