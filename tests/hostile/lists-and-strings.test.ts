// Invalid list parameters, and text that is code elsewhere: the server refuses it or takes it literally.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import type { ErrorCode } from '@berth/contracts/errors'
import { operations } from '@berth/contracts/operations'
import type { FieldsSchema } from '../conformance/bad-values.ts'
import { assertError } from '../conformance/error-answer.ts'
import { newKey, newProject } from '../conformance/fixture-keys.ts'
import { HttpCaller, type Answer } from '../conformance/http-exchange.ts'
import { absentResources, newResources } from '../conformance/resources.ts'
import { fillPath, resourceOf, sampleBody, sampleRequest } from '../conformance/sample-request.ts'
import { ServerDatabase } from '../conformance/server-database.ts'
import { turnOf } from '../tiers.ts'
import { startServer } from '../fixtures/server.ts'
import { hostileStrings } from './hostile-strings.ts'
import { assertNoFaultLogged } from './server-log.ts'

// Far above what any of these takes, and far below a regex bomb. Processor time, because a busy machine takes longer.
const MAX_CPU_MS = 2_000
// Far below a pg_sleep, which takes no processor time.
const MAX_MS = 20_000

const owner = { after }
const server = await startServer(owner)
const database = await ServerDatabase.open(owner, server)
const caller = new HttpCaller(owner, server.url)
const references = {
  projects: (await newProject(caller, server.key, 'Victim')).id,
  api_keys: (await newKey(caller, server.key, { name: 'victim' })).id,
  ...(await newResources(caller, server.key)),
}

/** Of the server so far. The kernel counts in hundredths of a second. */
function cpuMs(): number {
  const stat = readFileSync(`/proc/${server.pid}/stat`, 'utf8')
  const [user, system] = stat.slice(stat.lastIndexOf(')')).split(' ').slice(12, 14)
  return (Number(user) + Number(system)) * 10
}

async function promptly(what: string, send: () => Promise<Answer>): Promise<Answer> {
  const startedAt = performance.now()
  const cpuBefore = cpuMs()
  const answer = await send()
  const elapsedMs = performance.now() - startedAt
  assert.ok(elapsedMs < MAX_MS, `${what} took ${elapsedMs} ms`)
  assert.ok(cpuMs() - cpuBefore < MAX_CPU_MS, `${what} took ${cpuMs() - cpuBefore} ms of processor time`)
  assert.ok(answer.status < 500, `${what}: ${answer.status} ${answer.text}`)
  return answer
}

/** The options of a pool are in its config. */
function configOf(record: Record<string, unknown>): Record<string, unknown> {
  return (record['browser_pool_config'] as Record<string, unknown> | undefined) ?? record
}

const get = (path: string) =>
  promptly(path.slice(0, 200), () => caller.sendAs(server.key, { method: 'GET', path }))

function withParameter(path: string, name: string, value: string): string {
  const [base = '', query] = path.split('?')
  const parameters = new URLSearchParams(query)
  parameters.set(name, value)
  return `${base}?${parameters.toString()}`
}

const lists = operations.filter(({ paging }) => paging)
const badLimits = ['0', '-1', '1e9', 'x', '1.5', 'Infinity', '-Infinity', '1e400', '-1e400', 'NaN']
const badOffsets = ['-1', '1e18', '1000000001', '9223372036854775808', '1.5', 'x', '1e400', 'NaN']

for (const [turn, operation] of lists.entries()) {
  const { path } = sampleRequest(operation, operation.path, references)
  const { properties } = operation.query as unknown as FieldsSchema
  /** Undefined: what is larger counts as the largest. */
  const { maximum } = properties['limit']!
  const largest = maximum ?? 100
  const tooLarge = [String(largest + 1), '1000000000']

  test(`${operation.id} refuses invalid limits and offsets`, async () => {
    for (const limit of [...badLimits, ...(maximum ? tooLarge : [])]) {
      assertError(await get(withParameter(path, 'limit', limit)), 'bad_request', `limit ${limit}`)
    }
    if (!properties['offset']) return
    for (const offset of badOffsets) {
      assertError(await get(withParameter(path, 'offset', offset)), 'bad_request', `offset ${offset}`)
    }
  })

  test(`${operation.id} accepts the smallest and largest limit and offset, and empty ones as none`, async () => {
    for (const [name, value] of [
      ...(maximum ? [] : tooLarge.map((limit) => ['limit', limit] as const)),
      ['limit', ''],
      ['offset', ''],
      ['limit', 1],
      ['limit', largest],
      ['offset', 0],
      ['offset', properties['offset']?.maximum ?? 0],
    ] as const) {
      assert.equal((await get(withParameter(path, name, String(value)))).status, 200, `${name} ${value}`)
    }
  })

  test(`${operation.id} refuses a query of 1 MB and survives one of thousands of parameters`, async () => {
    for (const name of Object.keys(properties)) {
      const answer = await get(withParameter(path, name, 'x'.repeat(1024 * 1024)))
      assertError(answer, ['bad_request', 'headers_too_large'], name)
    }
    const many = Array.from({ length: 2000 }, (_, index) => `p${index}=1`).join('&')
    assert.equal((await get(`${path}${path.includes('?') ? '&' : '?'}${many}`)).status, 200)
  })

  const texts = Object.entries(properties).filter(([, schema]) => schema.type === 'string' && schema.pattern)
  for (const [name] of texts) {
    test(`${operation.id} takes hostile text in "${name}" literally or refuses it`, async () => {
      const before = await database.state()
      for (const text of turnOf(hostileStrings, turn)) {
        const answer = await get(withParameter(path, name, text))
        if (answer.status !== 200) assertError(answer, 'bad_request', `${name} ${text}`)
      }
      assert.deepEqual(await database.state(), before)
    })
  }
}

// Each is the only one with its character, so a search for the character must find only it.
const literals = ['%', '_', '\\', "'", '"', '*', '?', '(', '[', '$', '^', '|', '+', ';']

test('pattern characters match literally in the search for projects', async () => {
  // New names have none, but older ones may.
  const { id } = await newProject(caller, server.key, 'percent')
  await database.run("UPDATE projects SET name = 'left%right' WHERE id = $1", [id])
  const others = literals.filter((character) => character !== '%')
  for (const character of others) await newProject(caller, server.key, `left${character}right`)
  for (const character of literals) {
    const found = await get(withParameter('/org/projects', 'query', character))
    assert.deepEqual(names(found), [`left${character}right`], character)
    const part = await get(withParameter('/org/projects', 'query', `T${character}R`))
    assert.deepEqual(names(part), [`left${character}right`], `T${character}R`)
    const exact = await get(withParameter('/org/projects', 'name', `left${character}right`))
    assert.deepEqual(names(exact), [`left${character}right`], character)
    assert.deepEqual(names(await get(withParameter('/org/projects', 'name', character))), [], character)
  }
})

test('pattern characters match literally in the search for keys', async () => {
  for (const character of literals) await newKey(caller, server.key, { name: `left${character}right` })
  for (const character of literals) {
    const found = await get(withParameter('/org/api_keys', 'query', `t${character}r`))
    assert.deepEqual(names(found), [`left${character}right`], character)
  }
  // Ids and masked keys contain an underscore, so it would match here if it were a wildcard.
  assert.deepEqual(names(await get(withParameter('/org/api_keys', 'query', 'key%'))), [])
  assert.deepEqual(names(await get(withParameter('/org/api_keys', 'query', '_ey'))), [])
})

test('pattern characters match literally in the search of the audit log', async () => {
  await get('/org/projects/per%25cent')
  await get('/org/projects/under_score')
  await get('/org/projects/underXscore')
  const paths = async (search: string) => {
    const { path } = sampleRequest(
      lists.find(({ id }) => id === 'listAuditLogs')!,
      '/audit-logs',
      references,
    )
    const answer = await get(withParameter(path, 'search', search))
    return (answer.json as { path: string }[]).map((entry) => entry.path)
  }
  assert.deepEqual(await paths('per%'), ['/org/projects/per%25cent'])
  assert.deepEqual(await paths('under_score'), ['/org/projects/under_score'])
  assert.deepEqual(await paths('_%_'), [])
  assert.deepEqual(await paths('.*'), [])
})

function names(answer: Answer): string[] {
  assert.equal(answer.status, 200, answer.text)
  return (answer.json as { name: string }[]).map(({ name }) => name)
}

const tables = ['projects', 'api_keys', ...Object.keys(absentResources)]

/** Those that the database calls something else. */
const tableOf: Readonly<Record<string, string>> = {
  connections: 'auth_connections',
  flows: 'auth_flows',
  destinations: 'telemetry_destinations',
  audit_exports: 'audit_export_destinations',
}

async function counts(): Promise<Record<string, number>> {
  const entries = tables.map(async (table) => [table, await database.count(tableOf[table] ?? table)] as const)
  return Object.fromEntries(await Promise.all(entries))
}

function growingIn(path: string): string {
  if (path.startsWith('/audit-logs/export/')) return 'audit_exports'
  return tables.find((table) => path.split('/').includes(table))!
}

/** Refusals for other reasons: its flow has ended. */
const others: Partial<Record<string, readonly ErrorCode[]>> = {
  submitAuthConnection: ['no_active_flow'],
  submitAuthInvocation: ['no_active_flow'],
}

const isDomainOf = (id: string, field: string) =>
  ['createAuthConnection', 'createCredential'].includes(id) && field === 'domain'

/** Stored, but never shown. */
const writeOnly = new Set(['token', 'totp_secret', 'secret_access_key'])

// Controls store nothing; their values go into an instance.
let turn = 0
// An auth agent is a connection, and creating it again returns it.
const storing = operations.filter(
  ({ id, body, effect }) => body && effect !== 'control' && id !== 'createAuthAgent',
)
for (const operation of storing) {
  const { properties } = operation.body as unknown as FieldsSchema
  const free = Object.entries(properties).filter(
    ([, { type, enum: values }]) => [type].flat().includes('string') && !values,
  )
  for (const [field] of free) {
    const texts = turnOf(hostileStrings, turn++)
    test(`${operation.id} stores hostile text in "${field}" as it is, or refuses it`, async () => {
      const before = await counts()
      let stored = 0
      for (const text of texts) {
        const exchange = sampleRequest(operation, operation.path, references)
        const body = JSON.stringify({ ...sampleBody(operation), [field]: text })
        const answer = await promptly(text, () => caller.sendAs(server.key, { ...exchange, body }))
        if (answer.status !== operation.status) {
          // The pool has no browser to lease.
          if (operation.id === 'acquireBrowser' && answer.status === 204) continue
          const refusals = ['bad_request', 'project_not_found', 'already_exists', 'not_found'] as const
          assertError(answer, [...refusals, ...(others[operation.id] ?? [])], text)
          continue
        }
        // A finished one does not change.
        if (operation.id === 'updateInvocation') continue
        const record = answer.json as { id?: string; session_id?: string } & Record<string, unknown>
        const id = record.id ?? record.session_id
        const list = fillPath(operation.path.replace(/\/\{\w+\}$/, ''), references)
        const read = await get(`${list}/${id}`)
        // A project can be found by name; it must be the project of exactly that name.
        const shown = field === 'project_id' ? 'project_name' : field
        // An empty value removes the old one, for sessions, pools and webhooks.
        const expected =
          writeOnly.has(field) || (/^(Browser|Auth|Webhook)/.test(operation.tag) && text === '')
            ? undefined
            : // It has only one spelling.
              isDomainOf(operation.id, field)
              ? URL.parse(`http://${text}/`)?.host.replace(/\.$/, '')
              : text
        for (const seen of [record, read.json as Record<string, unknown>]) {
          assert.equal(configOf(seen)[shown], expected)
        }
        // A handover is a part of its session.
        if (operation.method === 'POST' && operation.id !== 'createHandover') stored++
        // There may be only so many of them.
        if (/^create(Browser|AuditLogExport|TelemetryDestination|Webhook)/.test(operation.id)) {
          await caller.sendJson(server.key, 'DELETE', `${operation.path}/${id}`)
        }
        if (operation.id === 'createHandover') {
          await caller.sendJson(server.key, 'POST', `${list}/${id}/finish`, { outcome: 'cancelled' })
        }
      }
      const growing = growingIn(operation.path)
      const now = await counts()
      // A connection creates its profile if no profile has that name.
      const isConnection = operation.id === 'createAuthConnection'
      assert.deepEqual(now, {
        ...before,
        [growing]: before[growing]! + stored,
        ...(isConnection && { profiles: now['profiles'] }),
      })
    })
  }
}

for (const [place, operation] of operations.filter(({ path }) => resourceOf(path)).entries()) {
  test(`${operation.id} finds and breaks nothing with a hostile id`, async () => {
    // Earlier tests may have stored something under such a name, but not under these.
    const strange = turnOf(hostileStrings, place)
      .map((text) => `${text.slice(0, 200)} `)
      .filter((text) => text.trim())
    const before = await database.state()
    for (const text of strange) {
      const exchange = sampleRequest(operation, operation.path, { [resourceOf(operation.path)!]: text })
      const answer = await promptly(text, () => caller.sendAs(server.key, exchange))
      assertError(answer, ['not_found', 'bad_request'], text)
    }
    assert.deepEqual(await database.state(), before)
  })
}

test('a project is found by any name it can have', async () => {
  const { json } = await get('/org/projects?limit=100')
  for (const { id, name } of json as { id: string; name: string }[]) {
    const answer = await get(`/org/projects/${encodeURIComponent(name)}`)
    assert.equal(answer.status, 200, `${name}: ${answer.text}`)
    assert.equal((answer.json as { id: string }).id, id)
  }
})

test('hostile text in headers reaches only the audit log', async () => {
  const before = await database.state()
  for (const text of hostileStrings) {
    const value = Buffer.from(text).toString('latin1')
    const headers = [
      ['User-Agent', value],
      ['Referer', value],
      ['X-Request-Id', value],
      ['X-Forwarded-For', value],
    ] as const
    const answer = await promptly(text, () =>
      caller.sendAs(server.key, { method: 'GET', path: '/org/limits', headers }),
    )
    assert.equal(answer.status, 200)
    assert.match(String(answer.headers['x-request-id']), /^req_[a-z0-9]+$/)
  }
  assert.deepEqual(await database.state(), before)
})

const auditPaths = [
  ['/audit-logs', 'page_token', 'bad_request'],
  ['/audit-logs/export/chunk', 'cursor', 'bad_request'],
] as const
const DAY_MS = 24 * 3_600_000
const iso = (ms: number) => new Date(ms).toISOString()

for (const [path, token] of auditPaths) {
  test(`${path} refuses invalid time ranges`, async () => {
    const now = Date.now()
    const range = (start: string, end: string) =>
      get(`${path}?${new URLSearchParams({ start, end }).toString()}`)
    const bad: [string, string][] = [
      [iso(now), iso(now)],
      [iso(now), iso(now - 1)],
      [iso(now), iso(now + 30 * DAY_MS + 1)],
      ['0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z'],
      [iso(now), '5y'],
      ['-5m', iso(now)],
      ['1e400', iso(now)],
      [iso(now), 'infinity'],
      ['-infinity', iso(now)],
      ['epoch', 'now'],
      ['2026-02-30T00:00:00Z', '2026-03-03T00:00:00Z'],
      [`2026-01-01T00:00:00Z' OR '1'='1`, iso(now)],
    ]
    for (const [start, end] of bad) assertError(await range(start, end), 'bad_request', `${start} to ${end}`)
    assertError(await get(`${path}?start=${iso(now)}`), 'bad_request', 'no end')
    assertError(await get(path), 'bad_request', 'no range')
  })

  test(`${path} accepts the first and the last possible day`, async () => {
    for (const [start, end] of [
      ['0001-01-01T00:00:00Z', '0001-01-02T00:00:00Z'],
      ['0001-01-01T00:00:00+23:59', '0001-01-02T00:00:00+23:59'],
      ['9999-12-31T00:00:00Z', '9999-12-31T23:59:59.999999999Z'],
      ['9999-12-31T00:00:00-23:59', '9999-12-31T23:59:59-23:59'],
    ] as const) {
      const answer = await get(`${path}?${new URLSearchParams({ start, end }).toString()}`)
      assert.equal(answer.status, 200, `${start}: ${answer.text}`)
    }
  })

  test(`${path} refuses a ${token} that the server did not issue`, async () => {
    const range = new URLSearchParams({ start: iso(Date.now() - DAY_MS), end: iso(Date.now() + DAY_MS) })
    const encoded = [
      '',
      '.',
      '1',
      '1.',
      '.1',
      '-1.1',
      '1.-1',
      '1.1.1',
      '1e3.1',
      'a.b',
      '1.1 ',
      '1\0.1',
      '{"t":1}',
    ]
    const tokens = ['x', '0', 'null', '!!!', '%', "' OR '1'='1", '\u{1f6a2}', 'x'.repeat(255)]
    const all = [...tokens, ...encoded.filter(Boolean).map((text) => Buffer.from(text).toString('base64url'))]
    for (const text of all) {
      assertError(
        await get(`${path}?${range.toString()}&${token}=${encodeURIComponent(text)}`),
        'bad_request',
        text,
      )
    }
    const far = Buffer.from('999999999999999.999999999999999999').toString('base64url')
    const answer = await get(`${path}?${range.toString()}&${token}=${far}`)
    assert.ok(answer.status === 200 || answer.status === 400, answer.text)
  })
}

test('no request caused a server error', () => assertNoFaultLogged(server))
