// Executors of Playwright code in one session: each with its own process and tab. The same tests run on a display and on a
// headless browser.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAX_NAMED_EXECUTORS, type PlaywrightExecutor } from '@berth/contracts/playwright-executor'
import { onBothKinds } from '../fixtures/agent/both-kinds.ts'
import { eventually } from '../fixtures/host.ts'

interface Executed {
  readonly success: boolean
  readonly result?: unknown
  readonly error?: string
  readonly stdout?: string
  readonly tab?: { readonly target_id: string; readonly created: boolean }
}

interface Refused {
  readonly code: string
  readonly message: string
  readonly executors?: readonly PlaywrightExecutor[]
}

onBothKinds((under) => {
  const send = (body: object) => under.agent.call('POST', '/control/playwright/execute', body)

  async function execute(executor: string | undefined, code: string, seconds = 30): Promise<Executed> {
    const { status, body } = await send({ code, timeout_sec: seconds, ...(executor && { executor }) })
    assert.equal(status, 200, JSON.stringify(body))
    return body as Executed
  }

  async function resultOf(executor: string | undefined, code: string): Promise<unknown> {
    const answer = await execute(executor, code)
    assert.ok(answer.success, answer.error)
    return answer.result
  }

  const tabCount = () => resultOf('two', 'return context.pages().length')

  async function list(): Promise<readonly PlaywrightExecutor[]> {
    const { status, body } = await under.agent.call('GET', '/control/playwright/executors')
    assert.equal(status, 200, JSON.stringify(body))
    return (body as { executors: PlaywrightExecutor[] }).executors
  }

  const find = async (executor: string) => (await list()).find((each) => each.name === executor)

  const remove = (executor: string, query = '') =>
    under.agent.call('DELETE', `/control/playwright/executors/${executor}${query}`)

  async function removeAll(): Promise<void> {
    for (const each of await list()) {
      assert.equal((await remove(each.name, each.name === 'default' ? '' : '?close_tab=true')).status, 204)
    }
  }

  /** Fills all places of the processor's time with nothing: only a kill ends it. */
  const HANGS = 'console.log("hangs"); for (;;) {}'

  test('each has a tab of its own, and the default one uses none of them', async () => {
    const first = await execute(undefined, 'return page.url()')
    assert.deepEqual(Object.keys(first).toSorted(), ['result', 'success', 'tab'])
    assert.equal(first.tab!.created, false)
    const one = await execute('one', `await page.setContent('<title>One</title>'); return page.title()`)
    assert.equal(one.result, 'One')
    assert.equal(one.tab!.created, true)
    const two = await execute('two', `await page.setContent('<title>Two</title>'); return page.title()`)
    assert.equal(new Set([first, one, two].map(({ tab }) => tab!.target_id)).size, 3)
    const again = await execute('one', 'return page.title()')
    assert.deepEqual(again, { success: true, result: 'One', tab: { ...one.tab!, created: false } })
    // Even when theirs is in front.
    await resultOf('two', 'await page.bringToFront()')
    assert.equal((await execute(undefined, 'return 1')).tab!.target_id, first.tab!.target_id)
    assert.equal(await resultOf('default', 'return context.pages().length'), 3)
    const visible = await resultOf('one', 'return page.evaluate(() => document.visibilityState)')
    assert.equal(visible, 'visible', 'a tab in the background runs like one in front')
  })

  test('the list says what each does', async () => {
    const running = execute('one', 'await page.waitForTimeout(1500)')
    await eventually('it is busy', async () => (await find('one'))?.busy === true)
    const [byDefault, one, two] = await list()
    assert.deepEqual([byDefault!.name, one!.name, two!.name], ['default', 'one', 'two'])
    assert.equal(two!.busy, false)
    assert.equal(two!.url, 'about:blank')
    assert.match(two!.target_id!, /^[A-F0-9]{32}$/)
    assert.ok(Date.parse(two!.created_at) <= Date.parse(two!.last_used_at))
    assert.ok(Date.parse(two!.last_used_at) <= Date.now())
    await running
    await resultOf('two', 'await page.close()')
    await eventually('its tab is gone', async () => (await find('two'))!.target_id === undefined)
    const next = await execute('two', 'return page.url()')
    assert.equal(next.tab!.created, true)
  })

  test('they run side by side, and calls of one run one after another', async () => {
    await Promise.all(['one', 'two'].map((each) => resultOf(each, 'return 1')))
    const began = performance.now()
    const order: string[] = []
    const run = (executor: string, label: string) =>
      execute(executor, 'await page.waitForTimeout(800); return 1').then(() => order.push(label))
    await Promise.all([run('one', 'first'), run('one', 'second'), run('two', 'other')])
    const took = performance.now() - began
    assert.ok(took > 1_600, `${took} ms`)
    assert.ok(order.indexOf('first') < order.indexOf('second'))
    assert.notEqual(order.at(-1), 'other')
  })

  test('code that hangs delays no other, and ends at its limit', async () => {
    const hanging = execute('one', HANGS, 15)
    await eventually('it runs', async () => (await find('one'))!.busy)
    const began = performance.now()
    assert.equal(await resultOf('two', 'return 2'), 2)
    assert.equal(await resultOf(undefined, 'return 3'), 3)
    assert.equal(await resultOf('new', 'return 4'), 4)
    assert.ok((await find('one'))!.busy, `the others took ${performance.now() - began} ms`)
    const { success, error, stdout, tab } = await hanging
    assert.deepEqual([success, error, stdout], [false, 'Execution timed out after 15000ms', 'hangs\n'])
    assert.equal((await execute('one', 'return 1')).tab!.target_id, tab!.target_id)
    await remove('new', '?close_tab=true')
  })

  test('a page that hangs delays no other, not even one that connects for the first time', async () => {
    const hanging = execute('one', 'return page.evaluate(() => { for (;;); })', 20)
    await eventually('it runs', async () => (await find('one'))!.busy)
    assert.equal(await resultOf('two', 'return page.evaluate(() => 2)'), 2)
    assert.equal(await resultOf('new', 'return page.evaluate(() => 3)'), 3)
    assert.ok((await find('one'))!.busy)
    const { error, tab } = await hanging
    assert.equal(error, 'Execution timed out after 20000ms')
    // The script of the page is stopped with the code.
    const next = await execute('one', 'return page.evaluate(() => 1)')
    assert.deepEqual(next, { success: true, result: 1, tab: { ...tab!, created: false } })
    await remove('new', '?close_tab=true')
  })

  test('a dialog belongs to the executor in whose tab it is', async () => {
    const answer = execute(
      'one',
      `page.on('dialog', async (dialog) => { await page.waitForTimeout(1000).catch(() => {}); await dialog.accept() })
      return page.evaluate(() => confirm('Really?'))`,
    )
    await eventually('it runs', async () => (await find('one'))!.busy)
    await Promise.all(['two', undefined].map((each) => resultOf(each, 'await page.waitForTimeout(500)')))
    assert.equal((await answer).result, true)
    assert.equal(await resultOf('two', `return page.evaluate(() => confirm('Nobody listens'))`), false)
  })

  test('a caller that leaves stops its own code only', async () => {
    const leaving = new AbortController()
    const body = { code: 'await page.waitForTimeout(60_000)', executor: 'one' }
    const left = under.agent.callForBytes('POST', '/control/playwright/execute', body, {
      signal: leaving.signal,
    })
    const other = execute('two', 'await page.waitForTimeout(1000); return "stays"')
    await eventually('it runs', async () => (await find('one'))!.busy)
    leaving.abort()
    await assert.rejects(left)
    await eventually('it has stopped', async () => !(await find('one'))!.busy)
    assert.equal((await other).result, 'stays')
  })

  test('a deleted executor stops its code, and closes its tab if asked to', async () => {
    const { tab } = await execute('one', 'globalThis.kept = 1; return 1')
    const begun = 'data:text/html,begun'
    const running = execute('one', `await page.goto('${begun}'); ${HANGS}`, 60)
    const waiting = send({ code: 'return 1', executor: 'one' })
    await eventually('it runs', async () => (await find('one'))!.url === begun)
    assert.equal((await remove('one')).status, 204)
    assert.equal((await running).error, 'The executor was deleted')
    const refused = await waiting
    assert.equal(refused.status, 400)
    assert.equal((refused.body as Refused).code, 'conflict')
    assert.equal(await find('one'), undefined)
    assert.equal(await tabCount(), 3, 'its tab stays')
    const fresh = await execute('one', 'return typeof globalThis.kept')
    assert.equal(fresh.result, 'undefined')
    assert.notEqual(fresh.tab!.target_id, tab!.target_id)
    assert.equal((await remove('one', '?close_tab=true')).status, 204)
    await eventually('the tab is closed', async () => (await tabCount()) === 3)
    const missing = await remove('one')
    assert.equal(missing.status, 400)
    assert.equal((missing.body as Refused).code, 'not_found')
    assert.match((missing.body as Refused).message, /"one": the session has "default", "two"/)
  })

  test('there are only so many, and the refusal lists them', async () => {
    await removeAll()
    const names = Array.from({ length: MAX_NAMED_EXECUTORS }, (_, index) => `number-${index}`)
    // Each is stopped when it is deleted, or refused if it had not begun.
    const code = 'await page.waitForTimeout(60_000)'
    const held = names.map((executor) => send({ executor, code, timeout_sec: 60 }))
    await eventually('all are there', async () => (await list()).length === names.length)
    const { status, body } = await send({ code: 'return 1', executor: 'one-more' })
    assert.equal(status, 400)
    const { message, executors, ...refused } = body as Refused
    assert.equal(refused.code, 'conflict')
    assert.match(
      message,
      /^Cannot make the executor "one-more": the session has 8 already; delete one, or use it$/,
    )
    assert.deepEqual(
      executors!.map((each) => each.name),
      names,
    )
    assert.equal(await resultOf(undefined, 'return "not counted"'), 'not counted')
    await remove(names[0]!, '?close_tab=true')
    assert.equal(await resultOf('one-more', 'return 1'), 1)
    await removeAll()
    await Promise.all(held)
  })

  test('after Chromium has ended, each says that its tab is new', async () => {
    const first = await execute('one', 'globalThis.kept = 1; return 1')
    await resultOf(undefined, 'return 1')
    const { restarts } = await under.agent.state()
    using cdp = await under.agent.openCdp()
    cdp.dispatch('Browser.crash')
    await under.agent.until((state) => state.browser === 'ready' && state.restarts > restarts)
    const next = await execute('one', 'return [globalThis.kept, page.url()]')
    assert.deepEqual(next.result, [1, 'about:blank'], 'its process is the same')
    assert.equal(next.tab!.created, true)
    assert.notEqual(next.tab!.target_id, first.tab!.target_id)
    assert.equal((await execute('one', 'return 1')).tab!.created, false)
    assert.equal(await resultOf(undefined, 'return page.evaluate(() => 1)'), 1)
  })

  test('what a call costs', async (t) => {
    const median = async (executor: string | undefined) => {
      const times: number[] = []
      for (let round = 0; round < 31; round++) {
        const began = performance.now()
        await resultOf(executor, 'return 1')
        times.push(performance.now() - began)
      }
      return times.toSorted((a, b) => a - b)[15]!
    }
    await removeAll()
    const alone = await median(undefined)
    const named = await median('one')
    const beside = await median(undefined)
    t.diagnostic(
      `warm: default ${alone.toFixed(1)} ms, named ${named.toFixed(1)} ms, default beside it ${beside.toFixed(1)} ms`,
    )
    assert.ok(alone < 100 && named < 200)
    const memory = await resultOf(
      'one',
      `return (await import('node:fs')).readFileSync('/proc/self/status', 'utf8')`,
    )
    t.diagnostic(`memory of its process: ${/RssAnon:\s+(\d+) kB/.exec(memory as string)?.[1]} kB`)
  })
})
