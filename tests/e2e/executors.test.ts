// Executors and the REPL of real sessions over the API: answers, direct routing, standby, and whose process it is.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { client84 } from '../client/versions.ts'
import { eventually } from '../fixtures/host.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession, query, readSession, send } from '../fixtures/sessions.ts'
import { startSite } from '../fixtures/site.ts'

interface Executed {
  readonly success: boolean
  readonly result?: unknown
  readonly error?: string
  readonly tab?: { readonly target_id: string; readonly created: boolean }
}

interface Executors {
  readonly executors: readonly {
    readonly name: string
    readonly busy: boolean
    readonly target_id?: string
    readonly url?: string
  }[]
}

interface Replied {
  readonly success: boolean
  readonly repl_id: string
  readonly content?: readonly { readonly text?: string; readonly data_b64?: string }[]
  readonly error?: string
  readonly repl_terminated?: boolean
}

const owner = { after }
const site = await startSite(owner)
const server = await startServer(owner, { hasRealInstances: true, env: site.allow })
const session = await createSession(server)
const at = (path: string, { session_id } = session) => `/browsers/${session_id}${path}`

const execute = (body: object, path = at('/playwright/execute')) => send<Executed>(server, 'POST', path, body)
const repl = (body: object, path = at('/repl')) => send<Replied>(server, 'POST', path, body)
const list = async () => (await send<Executors>(server, 'GET', at('/playwright/executors'))).body.executors

/** A path below the session's own address, with its token instead of a key. */
async function direct(path: string, init: RequestInit = {}, more = ''): Promise<Response> {
  const { base_url, cdp_ws_url } = await client84(server).browsers.retrieve(session.session_id)
  const token = new URL(cdp_ws_url).searchParams.get('jwt')
  return fetch(`${base_url}${path}?jwt=${token}${more}`, init)
}

const json = (body: object): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

test('the answer of older clients has one field more', async () => {
  const code = 'return 6 * 7'
  const answer = await client84(server).browsers.playwright.execute(session.session_id, { code })
  const { tab, ...others } = answer as Executed
  assert.deepEqual(others, { success: true, result: 42 })
  assert.equal(tab!.created, false)
})

test('named executors have tabs of their own and are listed and deleted', async () => {
  const visit = (executor: string, path: string) =>
    execute({ executor, code: `await page.goto('${site.url}${path}'); return page.title()` })
  const [home, popup] = await Promise.all([visit('one', '/'), visit('two', '/popup')])
  assert.deepEqual([home.body.result, popup.body.result], ['Home', 'Popup'])
  assert.deepEqual([home.body.tab!.created, popup.body.tab!.created], [true, true])
  const listed = (await list()).filter(({ name }) => name !== 'default')
  assert.deepEqual(
    new Map(listed.map(({ name, url, target_id }) => [name, [url, target_id]])),
    new Map([
      ['one', [`${site.url}/`, home.body.tab!.target_id]],
      ['two', [`${site.url}/popup`, popup.body.tab!.target_id]],
    ]),
  )
  assert.equal((await send(server, 'DELETE', at('/playwright/executors/one?close_tab=true'))).status, 204)
  const again = await send(server, 'DELETE', at('/playwright/executors/one'))
  assert.equal(again.status, 404)
  assert.match(again.body.message!, /^Cannot delete the executor "one": the session has /)
  const { body } = await execute({ code: 'return context.pages().map((each) => each.url())' })
  assert.ok(!(body.result as string[]).includes(`${site.url}/`))
})

test('the ninth is refused with a list of the eight', async () => {
  for (const { name } of await list()) {
    await send(server, 'DELETE', at(`/playwright/executors/${name}?close_tab=true`))
  }
  const names = Array.from({ length: 8 }, (_, index) => `executor.${index}`)
  const held = names.map((executor) =>
    execute({ executor, code: 'await page.waitForTimeout(120_000)', timeout_sec: 120 }),
  )
  await eventually('all are there', async () => (await list()).length === names.length)
  const { status, headers, body } = await execute({ executor: 'ninth', code: 'return 1' })
  assert.equal(status, 409)
  assert.equal(headers.get('x-should-retry'), 'false')
  assert.match(body.message!, /"ninth": the session has 8 already/)
  assert.deepEqual(
    (body as unknown as Executors).executors.map(({ name, busy }) => [name, busy]),
    names.map((name) => [name, true]),
  )
  for (const name of names) {
    assert.equal(
      (await send(server, 'DELETE', at(`/playwright/executors/${name}?close_tab=true`))).status,
      204,
    )
  }
  for (const answer of await Promise.all(held)) {
    // One that had not begun yet is refused.
    assert.ok(
      answer.body.error === 'The executor was deleted' || answer.status === 409,
      JSON.stringify(answer.body),
    )
  }
  assert.equal(
    (await readSession(server, session.session_id)).end_reason,
    undefined,
    'eight fit into its memory',
  )
})

test('names that are none are refused, and the message says what one is', async () => {
  for (const executor of ['', 'a b', '../x', '-a', 'é', 'x'.repeat(65), 7, null]) {
    const { status, body } = await execute({ executor, code: 'return 1' })
    assert.equal(status, 400, String(executor))
    assert.match(body.message!, /executor/)
  }
  assert.equal((await send(server, 'DELETE', at('/playwright/executors/a%20b'))).status, 400)
  assert.equal((await send(server, 'DELETE', at('/playwright/executors/x?close_tab=perhaps'))).status, 400)
})

test('the REPL keeps its variables, and its process is the user’s', async () => {
  const first = await repl({ code: 'const kept = await page.evaluate(() => 6 * 7)' })
  assert.equal(first.status, 200, JSON.stringify(first.body))
  const second = await repl({ code: 'kept' })
  assert.equal(second.body.content![0]!.text, '42\n')
  assert.equal(second.body.repl_id, first.body.repl_id)
  const { body } = await repl({ code: `require('os').userInfo().username + ' ' + process.env.HOME` })
  assert.equal(body.content![0]!.text, `'kernel /home/kernel'\n`)
  const own = await send<{ stdout_b64: string }>(server, 'POST', at('/process/exec'), {
    command: 'id',
    args: ['-u'],
  })
  const uid = Buffer.from(own.body.stdout_b64, 'base64').toString()
  assert.equal((await repl({ code: 'console.log(process.getuid())' })).body.content![0]!.text, uid)
  const title = await repl({ code: `await page.goto('${site.url}/popup'); await page.title()` })
  assert.equal(title.body.content![0]!.text, `'Popup'\n`)
  const fetched = await repl({
    code: `(await (await fetch('${site.url}/popup')).text()).includes('Popped up')`,
  })
  assert.equal(fetched.body.content?.[0]?.text, 'true\n', JSON.stringify(fetched.body))
})

test('a large picture arrives', async () => {
  const { status, body } = await repl({ code: `await page.screenshot({ fullPage: true })` })
  assert.equal(status, 200)
  const bytes = Buffer.from(body.content![0]!.data_b64!, 'base64')
  assert.equal(bytes.readUInt32BE(16), 1920)
})

test('the session’s own address serves them with its token', async () => {
  const executed = await direct('/playwright/execute', json({ executor: 'direct', code: 'return 1' }))
  assert.equal(((await executed.json()) as Executed).result, 1)
  const listed = (await (await direct('/playwright/executors')).json()) as Executors
  assert.ok(listed.executors.some(({ name }) => name === 'direct'))
  const deleted = await direct('/playwright/executors/direct', { method: 'DELETE' }, '&close_tab=true')
  assert.equal(deleted.status, 204)
  const replied = await direct('/repl', json({ code: '1 + 1' }))
  assert.equal(((await replied.json()) as Replied).content![0]!.text, '2\n')
  assert.deepEqual(await (await direct('/webmcp/tools')).json(), { tools: [] })
})

test('they go on after standby', async () => {
  const sleepy = await createSession(server)
  const path = at('/repl', sleepy)
  const stateOf = async () =>
    (
      await query<{ state: string }>(server, 'SELECT state FROM browsers WHERE id = $1', [sleepy.session_id])
    )[0]!.state
  const named = {
    executor: 'one',
    code: 'globalThis.kept = (globalThis.kept ?? 0) + 1; return globalThis.kept',
  }
  const before = await execute(named, at('/playwright/execute', sleepy))
  const { body: first } = await repl({ code: 'globalThis.kept = 1' }, path)
  await eventually('it is on standby', async () => (await stateOf()) === 'standby', 30_000)
  const { body } = await repl({ code: 'kept' }, path)
  assert.deepEqual([body.repl_id, body.content![0]!.text], [first.repl_id, '1\n'])
  const later = await execute(named, at('/playwright/execute', sleepy))
  assert.deepEqual(later.body, { success: true, result: 2, tab: { ...before.body.tab!, created: false } })
})

test('they end with their session', async () => {
  const ending = await createSession(server)
  const path = at('/repl', ending)
  await repl({ code: 'globalThis.kept = 1' }, path)
  const running = execute(
    { executor: 'one', code: 'await page.waitForTimeout(60_000)' },
    at('/playwright/execute', ending),
  )
  const looping = repl({ code: 'for (;;) {}' }, path)
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  await send(server, 'DELETE', `/browsers/${ending.session_id}`)
  for (const answer of await Promise.all([running, looping]))
    assert.ok([404, 409, 503].includes(answer.status))
  assert.equal((await repl({ code: '1' }, path)).status, 404)
})
