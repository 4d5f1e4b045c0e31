// The endpoint of MCP without browsers: who comes in, which tools they get, and that each call is one of the API's own.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { request as httpsRequest } from 'node:https'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { newKey, newProject } from '../conformance/fixture-keys.ts'
import { HttpCaller } from '../conformance/http-exchange.ts'
import { newCertificate } from '../fixtures/certificates.ts'
import { overHttp, overStdio } from '../fixtures/mcp.ts'
import { startServer, tempDir } from '../fixtures/server.ts'
import { createSession, query } from '../fixtures/sessions.ts'

const owner = { after }
const LISTED = 'https://tools.example'
const server = await startServer(owner, { env: { BERTH_ALLOWED_ORIGINS: LISTED } })
const caller = new HttpCaller(owner, server.url)
const project = await newProject(caller, server.key, 'Of MCP')
const reader = await newKey(caller, server.key, { name: 'reader', project_id: project.id, scopes: ['read'] })
const profiles = await newKey(caller, server.key, { name: 'profiles', scopes: ['profiles:write'] })

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
}
const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const post = (body: unknown, more: { key?: string | null; headers?: Record<string, string> } = {}) =>
  server.fetch('/mcp', {
    method: 'POST',
    body: JSON.stringify(body),
    ...more,
    headers: { ...headers, ...more.headers },
  })

describe('who comes in', () => {
  test('a request without a key is answered with 401 and says how to authenticate', async () => {
    for (const key of [null, 'wrong']) {
      const answer = await post(initialize, { key })
      assert.equal(answer.status, 401)
      assert.equal(answer.headers.get('www-authenticate'), 'Bearer')
      assert.equal(((await answer.json()) as { code: string }).code, 'unauthorized')
    }
  })

  test('a page of another origin is refused, unless the operator lists it', async () => {
    const refused = await post(initialize, { headers: { origin: 'https://evil.example' } })
    assert.equal(refused.status, 403)
    assert.match(await refused.text(), /BERTH_ALLOWED_ORIGINS/)
    const rebound = await post(initialize, { headers: { origin: 'null' } })
    assert.equal(rebound.status, 403)
    const own = await post(initialize, { headers: { origin: server.url } })
    assert.equal(own.status, 200)
    const listed = await post(initialize, { headers: { origin: LISTED } })
    assert.equal(listed.headers.get('access-control-allow-origin'), LISTED)
    const preflight = await server.fetch('/mcp', {
      method: 'OPTIONS',
      key: null,
      headers: {
        origin: LISTED,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization, mcp-protocol-version',
      },
    })
    assert.equal(preflight.status, 204)
    assert.match(preflight.headers.get('access-control-allow-headers') ?? '', /mcp-protocol-version/)
  })

  test('there are no streams and sessions of MCP to open or end', async () => {
    for (const method of ['GET', 'DELETE']) {
      assert.equal((await server.fetch('/mcp', { method, headers })).status, 405)
    }
  })

  test('a body that is too large, or is no message, is refused', async () => {
    const large = await post({ ...initialize, params: { text: 'x'.repeat(17 * 1024 * 1024) } })
    assert.equal(large.status, 413)
    assert.equal((await post({ hello: 'there' })).status, 400)
    const unknown = await server.fetch('/mcp?toolsets=cooking', {
      method: 'POST',
      headers,
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    })
    assert.equal(unknown.status, 400)
    assert.match(await unknown.text(), /there is no \\"cooking\\"/)
  })
})

/** The tools of the reference, but for two that show panels in its own clients, and one that writes to its makers. */
const reference = [
  'get_connection_context',
  'manage_browsers',
  'manage_profiles',
  'manage_projects',
  'manage_api_keys',
  'manage_browser_pools',
  'manage_proxies',
  'manage_extensions',
  'manage_apps',
  'manage_replays',
  'manage_auth_connections',
  'manage_credentials',
  'manage_credential_providers',
  'computer_action',
  'execute_playwright_code',
  'exec_command',
  'browser_curl',
  'search_docs',
  'browser_repl',
  'webmcp',
  'manage_browser_files',
]

const revisions = ['newest', 'handshake'] as const

describe('which tools a caller gets', () => {
  for (const revision of revisions) {
    test(`with the ${revision} revision: all, in a list that a model can afford`, async (t) => {
      const mcp = await overHttp(t, server, { revision })
      const { tools } = await mcp.client.listTools()
      const names = tools.map(({ name }) => name)
      for (const name of reference) assert.ok(names.includes(name), name)
      assert.equal(new Set(names).size, names.length)
      for (const tool of tools) {
        assert.ok(tool.description!.length < 2_500, `${tool.name} is long`)
        assert.equal(tool.inputSchema.type, 'object')
        for (const [field, schema] of Object.entries(tool.inputSchema.properties ?? {})) {
          assert.ok((schema as { description?: string }).description, `${tool.name}.${field} says what it is`)
        }
      }
      assert.ok(JSON.stringify(tools).length < 90_000, `${JSON.stringify(tools).length}`)
    })
  }

  test('those that its scopes allow, and of those the actions', async (t) => {
    const mcp = await overHttp(t, server, { key: reader.key })
    const { tools } = await mcp.client.listTools()
    const actions = (name: string) =>
      (
        tools.find((tool) => tool.name === name)?.inputSchema.properties?.['action'] as
          | { enum?: string[] }
          | undefined
      )?.enum
    assert.deepEqual(actions('manage_browsers'), ['list', 'get', 'get_telemetry'])
    assert.deepEqual(actions('manage_profiles'), ['list', 'get'])
    assert.equal(actions('manage_extensions')?.includes('delete'), false)
    const names = tools.map(({ name }) => name)
    for (const name of ['browser_click', 'exec_command', 'hand_over_to_human'])
      assert.ok(!names.includes(name), name)
    const refused = await mcp.call('manage_browsers', { action: 'create' })
    assert.ok(refused.isError)
    assert.match(refused.text, /give "action", one of list, get, get_telemetry/)
    const unknown = await mcp.call('exec_command', { session_id: 'a', command: 'id' })
    assert.match(unknown.text, /There is no tool "exec_command" for this key/)
  })

  test('a key for one family gets that family', async (t) => {
    const mcp = await overHttp(t, server, { key: profiles.key })
    assert.deepEqual(await mcp.names(), ['manage_profiles', 'get_connection_context', 'search_docs'])
    const created = await mcp.call('manage_profiles', { action: 'create', profile_name: 'from-mcp' })
    assert.equal(created.facts['name'], 'from-mcp')
  })

  test('only the toolsets that it asked for', async (t) => {
    const some = await overHttp(t, server, { search: '?toolsets=profiles,docs' })
    assert.deepEqual(await some.names(), ['manage_profiles', 'search_docs'])
    const allButOne = await overHttp(t, server, { search: '?toolsets=all,-docs' })
    assert.ok(!(await allButOne.names()).includes('search_docs'))
  })

  test('over stdio the same, by the scopes that the API tells', async (t) => {
    const [everything, limited] = await Promise.all([
      overStdio(t, server),
      overStdio(t, server, { key: reader.key }),
    ])
    const http = await overHttp(t, server)
    assert.deepEqual(await everything.names(), await http.names())
    const overHttpLimited = await overHttp(t, server, { key: reader.key })
    assert.deepEqual(await limited.names(), await overHttpLimited.names())
  })
})

describe('a call', () => {
  test('is a request of the caller: project, audit and refusals are those of the API', async (t) => {
    const inProject = await overHttp(t, server, { headers: { 'x-kernel-project': 'Of MCP' } })
    const created = await inProject.call('manage_browsers', {
      action: 'create',
      name: 'of-mcp',
      headless: true,
    })
    assert.equal(created.isError, false, created.text)
    const id = created.facts['session_id'] as string
    const [row] = await query<{ project_id: string }>(
      server,
      'SELECT project_id FROM browsers WHERE id = $1',
      [id],
    )
    assert.equal(row!.project_id, project.id)
    const everywhere = await overHttp(t, server)
    const named = await everywhere.call('manage_browsers', { action: 'list', project: 'Of MCP' })
    assert.deepEqual(
      (named.facts['items'] as { name: string }[]).map(({ name }) => name),
      ['of-mcp'],
    )
    const refused = await everywhere.call('manage_browsers', { action: 'list', project: 'Nobody' })
    assert.match(refused.text, /Cannot find an active project "Nobody" \[code: project_not_found\]/)
    const records = await query<{ route: string; client_ip: string }>(
      server,
      "SELECT route, client_ip FROM audit_logs WHERE project_id = $1 AND route = '/browsers' AND method = 'POST'",
      [project.id],
    )
    assert.equal(records.length, 1)
    assert.match(records[0]!.client_ip, /127\.0\.0\.1/)
    await inProject.call('manage_browsers', { action: 'delete', session_id: 'of-mcp' })
  })

  test('comes from the address of the client, also over TLS and behind a proxy', async (t) => {
    const certificate = newCertificate('localhost')
    const folder = tempDir(t)
    const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
    writeFileSync(cert, certificate.cert)
    writeFileSync(key, certificate.key)
    const secure = await startServer(t, {
      env: { BERTH_TLS_CERT: cert, BERTH_TLS_KEY: key, BERTH_TRUSTED_PROXIES: '127.0.0.1' },
    })
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'manage_browsers', arguments: { action: 'create', name: 'far', headless: true } },
    })
    const more = { authorization: `Bearer ${secure.key}`, 'x-forwarded-for': '203.0.113.9' }
    const answer = await new Promise<string>((resolve, reject) => {
      const options = { method: 'POST', headers: { ...headers, ...more }, rejectUnauthorized: false }
      const request = httpsRequest(`${secure.url}/mcp`, options, (response) => {
        let text = ''
        response.on('data', (chunk: Buffer) => (text += chunk.toString()))
        response.on('end', () => resolve(text))
      })
      request.once('error', reject)
      request.end(body)
    })
    assert.match(answer, /wss:\/\/127\.0\.0\.1/)
    const [record] = await query<{ client_ip: string }>(
      secure,
      "SELECT client_ip FROM audit_logs WHERE route = '/browsers' AND method = 'POST'",
    )
    assert.equal(record!.client_ip, '203.0.113.9')
  })

  test('with wrong input names the field and the remedy', async (t) => {
    const mcp = await overHttp(t, server)
    const cases: [string, Record<string, unknown>, RegExp][] = [
      ['manage_browsers', {}, /give "action", one of create, list/],
      ['manage_browsers', { action: 'get' }, /needs "session_id"/],
      ['manage_browsers', { action: 'list', limit: 0 }, /limit must be/],
      ['manage_browsers', { action: 'list', colour: 'red' }, /does not know: "colour"/],
      [
        'manage_browsers',
        { action: 'create', viewport_width: 800 },
        /give both viewport_width and viewport_height/,
      ],
      ['manage_browsers', { action: 'get', session_id: 'nobody' }, /\[code: not_found\]/],
      ['manage_browsers', { action: 'get', session_id: '..' }, /\[code: not_found\]/],
      ['browser_click', { session_id: 'nobody' }, /give "ref" from browser_snapshot, or "selector"/],
      ['browser_snapshot', {}, /lacks "session_id"/],
      [
        'computer_action',
        { session_id: 'a', actions: [{ type: 'screenshot' }, { type: 'sleep' }] },
        /only be the last/,
      ],
      ['hand_over_to_human', { session_id: 'a' }, /give "message"/],
    ]
    for (const [name, args, expected] of cases) {
      const answer = await mcp.call(name, args)
      assert.ok(answer.isError, name)
      assert.match(answer.text, expected)
    }
  })

  test('a list is cut to the size of an answer, and says where to go on', async (t) => {
    const mcp = await overHttp(t, server)
    const tags = Object.fromEntries(
      Array.from({ length: 50 }, (_, index) => [`tag-${index}`, 'x'.repeat(100)]),
    )
    for (let count = 0; count < 5; count++) await createSession(server, { name: `tagged-${count}`, tags })
    const first = await mcp.call('manage_browsers', { action: 'list', query: 'tagged-' })
    const shown = first.facts['items'] as unknown[]
    assert.ok(first.text.length < 22_000)
    assert.equal(first.facts['has_more'], true)
    assert.equal(first.facts['next_offset'], shown.length)
    const rest = await mcp.call('manage_browsers', {
      action: 'list',
      query: 'tagged-',
      offset: first.facts['next_offset'],
    })
    assert.equal(shown.length + (rest.facts['items'] as unknown[]).length, 5)
    assert.doesNotMatch(first.text, /jwt=/)
  })

  test('resources of the reference can be read, and prompts', async (t) => {
    const mcp = await overHttp(t, server, { key: reader.key })
    const { resources } = await mcp.client.listResources()
    const browsers = resources.find(({ uri }) => uri.endsWith('/browsers'))!
    const { contents } = await mcp.client.readResource({ uri: browsers.uri })
    assert.deepEqual(JSON.parse((contents[0] as { text: string }).text), [])
    await assert.rejects(mcp.client.readResource({ uri: 'berth://nothing' }))
    const { prompts } = await mcp.client.listPrompts()
    assert.deepEqual(
      prompts.map(({ name }) => name),
      ['kernel-concepts', 'debug-browser-session'],
    )
    const prompt = await mcp.client.getPrompt({
      name: 'debug-browser-session',
      arguments: { session_id: 'shop' },
    })
    assert.match((prompt.messages[0]!.content as { text: string }).text, /"shop"/)
  })

  test('the guide of the server is searched', async (t) => {
    const mcp = await overHttp(t, server, { search: '?toolsets=docs' })
    const found = await mcp.call('search_docs', { query: 'standby seconds' })
    assert.match(found.text, /\/docs\/guide\//)
    assert.match(found.text, /standby/i)
  })
})
