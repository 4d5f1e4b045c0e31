// Browser tools for agents, as published: an agent that uses them drives a session instead of a browser of its own. The
// test plays the agent.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { eventually } from '../fixtures/host.ts'
import { startServer, tempDir } from '../fixtures/server.ts'
import { createSession, send } from '../fixtures/sessions.ts'
import { modulesOf } from '../fixtures/tools.ts'
import { CLERK, CSV, NEW_SHIP, SHIPS, startOffice } from './office.ts'

const owner = { after }
const office = await startOffice(owner)
const server = await startServer(owner, { hasRealInstances: true, env: office.allow })
const modules = modulesOf('clients')
const folder = tempDir(owner)

test('@playwright/mcp with --cdp-endpoint logs in, adds a ship and reads the table', async () => {
  const session = await createSession(server)
  const tools = await startTools('@playwright/mcp/cli.js', ['--cdp-endpoint', session.cdp_ws_url])
  try {
    await tools.call('browser_navigate', { url: office.url })
    await fillIn({ Name: CLERK.name, Password: CLERK.password }, 'Log in')
    await fillIn({ Ship: NEW_SHIP.name, Tons: NEW_SHIP.tons }, 'Add')
    const table = await tools.call('browser_snapshot', {})
    const cells = [...table.matchAll(/cell "(\w+)"[^\n]*\n\s+- cell "(\d+)"/g)]
    assert.deepEqual(
      cells.map(([, ship, tons]) => `${ship} ${tons}`),
      SHIPS,
      table,
    )
    const picture = await tools.ask('browser_take_screenshot', { type: 'png', scale: 'css' })
    assert.ok(
      picture.some(({ type }) => type === 'image'),
      JSON.stringify(picture),
    )
    const link = /link "Table as a file"[^\n]*\[ref=(\w+)\]/.exec(table)![1]
    const clicked = await tools.call('browser_click', { element: 'Table as a file', target: link })
    // It leaves downloads of a browser that is not its own to that browser, and says nothing of them.
    assert.doesNotMatch(clicked, /Download/)
    const path = '/home/kernel/Downloads/ships.csv'
    await eventually('the file is in the session', async () => {
      const answer = await server.fetch(`/browsers/${session.session_id}/fs/read_file?path=${path}`)
      return (await answer.text()) === CSV
    })
  } finally {
    await tools.close()
  }
  // The browser outlives its client, with what the agent did.
  const { body } = await send<{ url: string }[]>(server, 'GET', `/browsers/${session.session_id}/pages`)
  assert.equal(body[0]?.url, `${office.url}/ships`)

  /** As an agent does: reads the page, and uses the references that it finds. */
  async function fillIn(values: Readonly<Record<string, string>>, button: string): Promise<void> {
    const shown = await tools.call('browser_snapshot', {})
    const refOf = (role: string, name: string) => {
      const [, ref] = new RegExp(`${role} "${name}"[^\\n]*\\[ref=(\\w+)\\]`).exec(shown) ?? []
      assert.ok(ref, `no ${role} "${name}" in ${shown}`)
      return ref
    }
    const fields = Object.entries(values).map(([name, value]) => ({
      name,
      element: name,
      target: refOf('textbox', name),
      type: 'textbox',
      value,
    }))
    await tools.call('browser_fill_form', { fields })
    await tools.call('browser_click', { element: button, target: refOf('button', button) })
  }
})

test('chrome-devtools-mcp with --wsEndpoint logs in, adds a ship, reads requests and audits the page', async () => {
  const session = await createSession(server)
  const program = 'chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js'
  const options = ['--no-usage-statistics', '--no-performance-crux']
  const tools = await startTools(program, ['--wsEndpoint', session.cdp_ws_url, ...options])
  try {
    const pages = await tools.call('list_pages', {})
    const pageId = Number(/^(\d+):/m.exec(pages)?.[1])
    await tools.call('navigate_page', { pageId, type: 'url', url: office.url })
    await fillIn({ Name: CLERK.name, Password: CLERK.password }, 'Log in')
    await fillIn({ Ship: NEW_SHIP.name, Tons: NEW_SHIP.tons }, 'Add')
    const table = await tools.call('evaluate_script', {
      pageId,
      function:
        '() => [...document.querySelectorAll("tbody tr")].map((row) => row.innerText.replace("\\t", " "))',
    })
    for (const ship of SHIPS) assert.ok(table.includes(`"${ship}"`), table)
    const requests = await tools.call('list_network_requests', { pageId, includePreservedRequests: true })
    assert.match(requests, /POST http:\/\/\S+\/login.*303/)
    const audit = await tools.call('lighthouse_audit', {
      pageId,
      mode: 'snapshot',
      device: 'desktop',
      outputDirPath: folder,
    })
    assert.match(audit, /accessibility/i)

    async function fillIn(values: Readonly<Record<string, string>>, button: string): Promise<void> {
      const shown = await tools.call('take_snapshot', { pageId })
      const uidOf = (role: string, name: string) => {
        const [, uid] = new RegExp(`uid=(\\S+) ${role} "${name}"`).exec(shown) ?? []
        assert.ok(uid, `no ${role} "${name}" in ${shown}`)
        return uid
      }
      const elements = Object.entries(values).map(([name, value]) => ({ uid: uidOf('textbox', name), value }))
      await tools.call('fill_form', { pageId, elements })
      await tools.call('click', { pageId, uid: uidOf('button', button) })
    }
  } finally {
    await tools.close()
  }
  const { body } = await send<{ url: string }[]>(server, 'GET', `/browsers/${session.session_id}/pages`)
  assert.equal(body[0]?.url, `${office.url}/ships`)
})

interface Content {
  readonly type: string
  readonly text?: string
}

interface Tools {
  /** What the tool answers. */
  ask(name: string, values: object): Promise<readonly Content[]>
  /** The text of what the tool answers. */
  call(name: string, values: object): Promise<string>
  close(): Promise<void>
}

interface McpClient {
  connect(transport: object): Promise<void>
  callTool(
    call: object,
    schema: undefined,
    options: object,
  ): Promise<{ content: Content[]; isError?: boolean }>
  close(): Promise<void>
}

/** Starts the program of a package as an agent's host does, and speaks to it with the official client. */
async function startTools(program: string, args: readonly string[]): Promise<Tools> {
  const sdk = join(modules, '@modelcontextprotocol/sdk/dist/esm/client')
  const load = async (file: string): Promise<unknown> => await import(pathToFileURL(join(sdk, file)).href)
  const { Client } = (await load('index.js')) as { Client: new (info: object) => McpClient }
  const { StdioClientTransport } = (await load('stdio.js')) as {
    StdioClientTransport: new (program: object) => object
  }
  const client = new Client({ name: 'berth-tests', version: '1' })
  const command = process.execPath
  await client.connect(
    new StdioClientTransport({
      command,
      args: [join(modules, program), ...args],
      cwd: folder,
      env: { PATH: process.env['PATH']!, HOME: folder },
      stderr: 'ignore',
    }),
  )
  const ask: Tools['ask'] = async (name, values) => {
    const call = { name, arguments: values }
    const { content, isError } = await client.callTool(call, undefined, { timeout: 120_000 })
    assert.ok(!isError, `${name}: ${JSON.stringify(content)}`)
    return content
  }
  return {
    ask,
    call: async (name, values) => (await ask(name, values)).map(({ text }) => text ?? '').join('\n'),
    close: () => client.close(),
  }
}
