// Credentials survive kill -9 and a new master key: each has the old value or the new one.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Credential } from '@berth/contracts/credentials'
import { CredentialSecrets } from '@berth/server/logins/credentials/secrets'
import type { CredentialRecord } from '@berth/server/logins/credentials/types'
import { Keyring } from '@berth/server/platform/secrets/keyring'
import { SealedBox } from '@berth/server/platform/secrets/sealed-box'
import { ServerDatabase } from '../conformance/server-database.ts'
import type { Owner } from '../fixtures/cleanup.ts'
import { programFile } from '../fixtures/programs.ts'
import { seededRandom } from '../fixtures/random.ts'
import { serverEnv, startServer, tempDir, type TestServer } from '../fixtures/server.ts'
import { send } from '../fixtures/sessions.ts'
import { amount } from '../tiers.ts'

const admin = programFile('admin')
const SEEDS = ['JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP', 'KRSXG5CTMVRXEZLUKRSXG5CTMVRXEZLU'] as const

/** The values that a login would get; the API never shows them. */
async function stored(t: Owner, server: TestServer, id: string): Promise<{ password: string; seed: string }> {
  const database = await ServerDatabase.open(t, server)
  const [row] = await database.run('SELECT * FROM credentials WHERE id = $1', [id])
  const ring = await Keyring.open({ dataDir: server.dataDir, fromSetting: [] })
  const secrets = new CredentialSecrets(new SealedBox(ring))
  const record = row as unknown as CredentialRecord
  return { password: secrets.valuesOf(record)['password']!, seed: secrets.totpOf(record)!.secret }
}

async function create(server: TestServer): Promise<string> {
  const { status, body } = await send<Credential>(server, 'POST', '/credentials', {
    name: 'saved',
    domain: 'a.example',
    values: { username: 'captain', password: '0' },
    totp_secret: SEEDS[0],
  })
  assert.equal(status, 201)
  return body.id
}

const change = (server: TestServer, id: string, count: number) =>
  send(server, 'PATCH', `/credentials/${id}`, {
    values: { password: String(count) },
    totp_secret: SEEDS[count % 2],
  })

for (const { at, survives } of [
  { at: 'before-commit', survives: 0 },
  { at: 'after-commit', survives: 1 },
]) {
  test(`a crash at "${at}" leaves a change complete or not done`, async (t) => {
    const dataDir = tempDir(t)
    const first = await startServer(t, { dataDir })
    const id = await create(first)
    await first.stop()
    const doomed = await startServer(t, { dataDir, env: { BERTH_CRASH_AT: at } })
    await assert.rejects(change(doomed, id, 1))
    const server = await startServer(t, { dataDir })
    assert.deepEqual(await stored(t, server, id), { password: String(survives), seed: SEEDS[survives] })
    const { body } = await send<Credential>(server, 'GET', `/credentials/${id}`)
    assert.deepEqual([body.has_totp_secret, body.value_keys], [true, ['username', 'password']])
  })
}

test('kill -9 during saves of a credential loses no answered save and mixes none', async (t) => {
  const dataDir = tempDir(t)
  let server = await startServer(t, { dataDir, hasOwnPostgres: true })
  const id = await create(server)
  const random = seededRandom('kills of saves')
  const rounds = amount('credentialKills')
  let answered = 0
  for (let round = 0; round < rounds; round++) {
    const doomed = server
    const enough = Promise.withResolvers<void>()
    const goal = answered + random.integer(5, 24)
    const writing = (async () => {
      try {
        for (let count = answered + 1; ; count++) {
          const { status } = await change(doomed, id, count)
          assert.equal(status, 200)
          answered = count
          if (count >= goal) enough.resolve()
        }
      } catch (error) {
        if (doomed.process.signalCode === null && !(error instanceof TypeError)) throw error
      }
    })()
    await Promise.race([enough.promise, writing])
    await delay(random.next() * 8)
    await doomed.stop('SIGKILL')
    await writing
    server = await startServer(t, { dataDir })
    const { password, seed } = await stored(t, server, id)
    const count = Number(password)
    // One more save may be committed whose answer was lost.
    assert.ok(count === answered || count === answered + 1, `${count} after ${answered}`)
    assert.equal(seed, SEEDS[count % 2], 'both are of the same change')
    answered = count
  }
  t.diagnostic(`${answered} saves over ${rounds} kills`)
})

test('credentials and tokens move to a new master key, and decrypt without the old one', async (t) => {
  const server = await startServer(t, { hasOwnPostgres: true })
  const id = await create(server)
  const provider = { name: 'account', provider_type: 'onepassword', token: 'ops_of-an-account' }
  const made = await send<{ id: string }>(server, 'POST', '/org/credential_providers', provider)
  const run = (command: string) =>
    promisify(execFile)(process.execPath, [admin, command], {
      env: serverEnv({ BERTH_DATA_DIR: server.dataDir }),
    })
  const moved = /Moved (\d+) records/.exec((await run('rotate-master-key')).stdout)?.[1]
  assert.ok(
    Number(moved) >= 4,
    `only ${moved} records moved; expected values, seed, token and secrets of the server itself`,
  )
  await run('forget-old-master-keys')
  assert.equal((await send(server, 'GET', `/credentials/${id}`)).status, 200)
  await server.stop()
  const restarted = await startServer(t, { dataDir: server.dataDir })
  assert.deepEqual(await stored(t, restarted, id), { password: '0', seed: SEEDS[0] })
  assert.equal((await send(restarted, 'GET', `/credentials/${id}/totp-code`)).status, 200)
  const tested = await send<{ error: string }>(
    restarted,
    'POST',
    `/org/credential_providers/${made.body.id}/test`,
  )
  assert.match(tested.body.error, /not that of a 1Password service account/, 'the token could be read')
})
