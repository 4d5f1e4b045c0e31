// Tools that pages offer to agents, in a real Chromium.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import type { Response } from '@berth/contracts/operation'
import type { invokeWebMcpTool, listWebMcpTools } from '@berth/contracts/webmcp'
import { AgentUnderTest, HEADLESS } from '../fixtures/agent/agent-under-test.ts'
import { onBothKinds } from '../fixtures/agent/both-kinds.ts'
import { eventually } from '../fixtures/host.ts'

type Tool = Response<typeof listWebMcpTools>['tools'][number]
type Invocation = Response<typeof invokeWebMcpTool>

const PAGE = `<title>Harbour</title>
<form toolname="greet" tooldescription="Greets somebody" toolautosubmit><input name="who"></form>
<form toolname="book" tooldescription="Books a berth"><input name="ship"><button>Book</button></form>
<script>
  const tool = (name, execute) => document.modelContext.registerTool({
    name, description: 'It ' + name, inputSchema: { type: 'object', properties: { a: { type: 'number' } } }, execute,
  })
  tool('doubles', async ({ a }) => ({ doubled: a * 2 }))
  tool('fails', async () => { throw new Error('no such berth') })
  tool('hangs', () => new Promise(() => {}))
  tool('floods', async () => 'x'.repeat(5_000_000))
  tool('leaves', () => { location.href = '/gone'; return new Promise(() => {}) })
  tool('blocks', () => { for (;;); })
  document.forms[0].addEventListener('submit', (event) => {
    event.preventDefault()
    event.respondWith(Promise.resolve('Ahoy ' + event.target.who.value))
  })
</script>`
const site = createServer((request, response) => {
  response.setHeader('content-type', 'text/html')
  response.end(request.url === '/' ? PAGE : '<title>Gone</title>')
}).listen(0, '127.0.0.1')
await once(site, 'listening')
after(() => {
  site.closeAllConnections()
  site.close()
})
/** Tools need a secure context, which a page on loopback is. */
const url = `http://localhost:${(site.address() as AddressInfo).port}/`

onBothKinds((under) => {
  async function execute(code: string): Promise<unknown> {
    const { body } = await under.agent.call('POST', '/control/playwright/execute', { code })
    const { success, result, error } = body as { success: boolean; result?: unknown; error?: string }
    assert.ok(success, error)
    return result
  }

  async function list(): Promise<readonly Tool[]> {
    const { status, body } = await under.agent.call('GET', '/control/webmcp/tools')
    assert.equal(status, 200, JSON.stringify(body))
    return (body as { tools: Tool[] }).tools
  }

  const invoke = (body: object) => under.agent.call('POST', '/control/webmcp/invoke', body)

  async function use(toolName: string, input: object = {}, more: object = {}): Promise<Invocation> {
    const found = (await list()).find(({ tool, source }) => tool.name === toolName && source.frame === null)
    assert.ok(found, `no tool ${toolName}`)
    const { status, body } = await invoke({ tool_ref: found.tool_ref, input, ...more })
    assert.equal(status, 200, JSON.stringify(body))
    return body as Invocation
  }

  test('the list has the tools of a page', async () => {
    assert.deepEqual(await list(), [])
    await execute(`await page.goto('${url}')`)
    const tools = await list()
    const own = tools.filter(({ source }) => source.frame === null)
    assert.deepEqual(own.map(({ tool }) => tool.name).toSorted(), [
      'blocks',
      'book',
      'doubles',
      'fails',
      'floods',
      'greet',
      'hangs',
      'leaves',
    ])
    const doubles = own.find(({ tool }) => tool.name === 'doubles')!
    assert.deepEqual(doubles.tool, {
      name: 'doubles',
      description: 'It doubles',
      inputSchema: { type: 'object', properties: { a: { type: 'number' } } },
    })
    const { tab_id, window_id, target_id, ...where } = doubles.source
    assert.deepEqual(where, { page_url: url, page_title: 'Harbour', frame: null })
    assert.ok(tab_id > 0 && window_id > 0 && target_id.length === 32)
  })

  test('a tool answers, fails, or takes too long', async () => {
    const { invocation_id, ...doubled } = await use('doubles', { a: 21 })
    assert.ok(invocation_id.length > 0)
    assert.deepEqual(doubled, { status: 'completed', output: { doubled: 42 } })
    const failed = await use('fails')
    assert.deepEqual([failed.status, failed.error_text], ['error', 'Error: no such berth'])
    const late = await use('hangs', {}, { timeout_sec: 1 })
    assert.deepEqual([late.status, late.error_text], ['canceled', 'The tool did not answer within 1000ms'])
    const flood = await use('floods')
    assert.equal(flood.status, 'error')
    assert.match(flood.error_text!, /more than 4194304 bytes/)
  })

  test('a form is a tool, and waits for its person if it does not submit itself', async () => {
    const greeted = await use('greet', { who: 'Ada' })
    assert.deepEqual([greeted.status, greeted.output], ['completed', 'Ahoy Ada'])
    const filled = await use('book', { ship: 'Fram' })
    assert.deepEqual([filled.status, filled.output], ['awaiting_submission', undefined])
    assert.equal(await execute(`return page.inputValue('[name=ship]')`), 'Fram')
  })

  test('a caller that leaves cancels the tool', async () => {
    const { tool_ref } = (await list()).find(({ tool }) => tool.name === 'hangs')!
    const leaving = new AbortController()
    const left = under.agent.callForBytes(
      'POST',
      '/control/webmcp/invoke',
      { tool_ref, input: {} },
      { signal: leaving.signal },
    )
    setTimeout(() => leaving.abort(), 500)
    await assert.rejects(left)
    assert.equal((await use('doubles', { a: 1 })).status, 'completed')
  })

  test('a tool that is not there is refused', async () => {
    const [tool] = await list()
    const wrong = ['x', Buffer.from(JSON.stringify(['a', 'b', 'c', 'd'])).toString('base64url')]
    for (const tool_ref of wrong) {
      const { status, body } = await invoke({ tool_ref, input: {} })
      assert.equal(status, 400)
      assert.match((body as { message: string }).message, /^Cannot invoke the tool: /)
    }
    const large = await invoke({ tool_ref: tool!.tool_ref, input: { text: 'x'.repeat(1024 * 1024) } })
    assert.equal((large.body as { code: string }).code, 'payload_too_large')
    await execute(`await page.goto('${url}elsewhere')`)
    const gone = await invoke({ tool_ref: tool!.tool_ref, input: {} })
    assert.equal((gone.body as { code: string }).code, 'not_found')
    assert.deepEqual(await list(), [])
  })

  test('a tool whose page goes away, or is blocked, ends within its limit', async () => {
    await execute(`await page.goto('${url}')`)
    const left = await use('leaves', {}, { timeout_sec: 3 })
    // Chromium says that it has completed, with nothing.
    assert.deepEqual([left.status, left.output ?? []], ['completed', []])
    // Its own navigation would interrupt the next one.
    await execute(`await page.waitForURL('**/gone'); await page.goto('${url}')`)
    const blocked = await use('blocks', {}, { timeout_sec: 2 })
    assert.equal(blocked.status, 'canceled')
    // Such a page has no tools that could be asked for; the list does not wait for it.
    const began = performance.now()
    assert.deepEqual(await list(), [])
    assert.ok(performance.now() - began < 8_000)
    await execute(`const [blocked] = context.pages(); const other = await context.newPage(); await blocked.close()
      await other.goto('${url}')`)
    await eventually('the tools of the other page are there', async () => (await list()).length > 0)
  })
})

test('a browser that should look like a person’s offers no more than that', async (t) => {
  const agent = await AgentUnderTest.start(t, { browser: { ...HEADLESS, blocksPopups: true } })
  await agent.ready()
  const { body } = await agent.call('POST', '/control/playwright/execute', {
    code: `await page.goto('${url}elsewhere')
      return page.evaluate(() => [isSecureContext, 'modelContext' in document])`,
  })
  assert.deepEqual((body as { result: unknown }).result, [true, false])
})
