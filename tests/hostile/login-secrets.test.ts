// The secrets of a login appear nowhere: not in logs, events, telemetry, recordings, rows or files, nor in the
// arguments and environments of processes. The test captures everything that can be captured.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { ManagedAuth } from '@berth/contracts/auth-connections'
import { begin, connect, follow, reaches, timeline } from '../fixtures/auth-connections.ts'
import { credentialOf } from '../fixtures/login-zoo/kit/credential.ts'
import { totpAt } from '../fixtures/login-zoo/kit/totp.ts'
import { startZoo } from '../fixtures/login-zoo/zoo.ts'
import { startServer } from '../fixtures/server.ts'
import { query, send } from '../fixtures/sessions.ts'
import { filesWith, formsOf } from './secret-search.ts'

const owner = { after }
const zoo = await startZoo(owner)
const server = await startServer(owner, {
  // The test searches its data directory.
  hasOwnPostgres: true,
  hasRealInstances: true,
  env: { ...zoo.allow, BERTH_LOG_LEVEL: 'debug' },
})
const site = zoo.site('totp-single')
const variant = site.description.variants.find(({ name }) => name === 'right')!
const { values, totpSecret } = credentialOf(site, variant)
/** Matches the secret as it is encoded in a URL, in JSON or in HTML. */
const PART_OF_PASSWORD = 'totp-single-ada'
assert.ok(values['password']!.includes(PART_OF_PASSWORD))
const secrets = [PART_OF_PASSWORD, totpSecret!]

interface Found {
  readonly where: string
  readonly secret: string
}

function search(where: string, text: string | Buffer, more: readonly string[] = []): Found[] {
  const bytes = Buffer.from(text)
  return [...secrets, ...more]
    .filter((secret) => formsOf(secret).some((form) => bytes.includes(form)))
    .map((secret) => ({ where, secret }))
}

/** Reads the arguments and environments of all processes repeatedly. */
async function watchProcesses(signal: AbortSignal): Promise<Found[]> {
  const found: Found[] = []
  while (!signal.aborted) {
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      if (Number(pid) === process.pid) continue
      for (const file of ['cmdline', 'environ']) {
        found.push(...search(`/proc/${pid}/${file}`, contentOf(`/proc/${pid}/${file}`)))
      }
    }
    await delay(20)
  }
  return found
}

function contentOf(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch {
    // The process has ended.
    return Buffer.alloc(0)
  }
}

async function textOf(path: string): Promise<Buffer> {
  const answer = await server.fetch(path)
  assert.equal(answer.status, 200, path)
  return Buffer.from(await answer.arrayBuffer())
}

test('a login with a credential, recorded and with telemetry, leaves no secret anywhere', async () => {
  const made = await send(server, 'POST', '/credentials', {
    name: 'planted',
    domain: site.domain,
    values,
    totp_secret: totpSecret,
  })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const { id } = await connect(server, site.domain, {
    allowed_domains: site.allowedDomains,
    login_url: site.loginUrl,
    credential: { name: 'planted' },
    record_session: true,
    browser_telemetry: {},
  })
  const over = new AbortController()
  const processes = watchProcesses(over.signal)
  const startedAt = Date.now()
  await begin(server, id)
  const events = await follow(server, id)
  const done = await reaches(server, id, 'SUCCESS', 60_000)
  const checked = await send<ManagedAuth>(server, 'POST', `/auth/connections/${id}/check`)
  assert.equal(checked.status, 200)
  over.abort()

  const flow = (await timeline(server, id)).find(({ type }) => type === 'login')!
  const of = `/browsers/${flow.browser_session_id}`
  const telemetry = await textOf(`${of}/telemetry/events?limit=100`)
  const har = await textOf(`${of}/telemetry/har`)
  // The events of the requests exist and would be found; only the secret is missing.
  for (const told of [telemetry, har]) assert.match(told.toString(), /"method": ?"POST"/)
  assert.equal(search('', encodeURIComponent(values['password']!)).length, 1)
  const video = await textOf(`${of}/replays/${flow.replay_id}`)
  assert.ok(video.includes(site.domain), 'the recording says where it was')

  // A code alone may be part of any number, so the test looks for it with its surrounding text.
  const codes = [startedAt, Date.now()]
    .flatMap((at) => [at - 30_000, at, at + 30_000])
    .map((at) => totpAt(totpSecret!, at))
  const typed = codes.flatMap((code) => [`app_otp=${code}`, `"${code}"`, `\\"${code}\\"`])
  const rows: Found[] = []
  const tables = await query<{ name: string }>(
    server,
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'",
  )
  assert.ok(tables.length > 20)
  for (const { name } of tables) {
    const content = await query<{ text: string }>(server, `SELECT t::text AS text FROM "${name}" AS t`)
    rows.push(...search(`rows of ${name}`, content.map(({ text }) => text).join('\n'), typed))
  }
  const found = [
    ...(await processes),
    ...search('log', server.output(), typed),
    ...search('events', JSON.stringify(events), typed),
    ...search('connection', JSON.stringify([done, checked.body, await timeline(server, id)]), typed),
    ...search('telemetry', telemetry, typed),
    ...search('HAR', har, typed),
    ...search('recording', video, typed),
    ...rows,
    ...secrets.flatMap((secret) => filesWith(server.dataDir, secret).map((where) => ({ where, secret }))),
  ]
  assert.deepEqual(found, [])
})
