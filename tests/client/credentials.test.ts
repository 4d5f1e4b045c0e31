// Every method of `credentials`, in each version of the published client.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { Secret, TOTP } from 'otpauth'
import { startServer } from '../fixtures/server.ts'
import { client55, client70, client84 } from './versions.ts'

const owner = { after }
const server = await startServer(owner)
const versions = { '0.55.0': client55, '0.70.0': client70, '0.84.0': client84 }

const SEED = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'

/** The code of now or of the previous window, which may just have ended. */
function isCodeOf(code: string | undefined, seed: string, options: object = {}): boolean {
  const totp = new TOTP({ secret: Secret.fromBase32(seed), ...options })
  const now = Date.now()
  return [now, now - 30_000].some((timestamp) => totp.generate({ timestamp }) === code)
}

function isTaken(error: { status?: number; error?: { code?: string } }): boolean {
  assert.deepEqual([error.status, error.error?.code], [409, 'already_exists'])
  return true
}

interface Extensions {
  readonly passkeys: unknown
  readonly has_mailbox: unknown
}

for (const [version, newClient] of Object.entries(versions)) {
  describe(`client ${version}`, () => {
    test('creates, reads, changes and deletes a credential, and never returns its values', async () => {
      const { credentials } = newClient(server)
      const name = `harbour ${version}`
      const created = await credentials.create({
        name,
        domain: 'netflix.com',
        values: { username: 'user@example.com', password: 'my-secret-password' },
      })
      assert.match(created.id, /^cred_[a-z0-9]{24}$/)
      // Extensions, which the types of the clients do not know.
      const { passkeys, has_mailbox: hasMailbox, ...known } = created as typeof created & Extensions
      assert.deepEqual([passkeys, hasMailbox], [[], false])
      assert.deepEqual(
        { ...known, id: '', created_at: '', updated_at: '' },
        {
          id: '',
          name,
          domain: 'netflix.com',
          created_at: '',
          updated_at: '',
          has_values: true,
          has_totp_secret: false,
          sso_provider: null,
          value_keys: ['username', 'password'],
        },
      )
      assert.ok(Date.now() - Date.parse(created.created_at) < 60_000)
      assert.deepEqual(await credentials.retrieve(created.id), created)
      assert.deepEqual(await credentials.retrieve(name), created)

      const renamed = await credentials.update(name, { name: `${name}!`, sso_provider: 'google' })
      assert.deepEqual([renamed.name, renamed.sso_provider], [`${name}!`, 'google'])
      assert.ok(renamed.updated_at > created.updated_at)
      await assert.rejects(credentials.retrieve(name), { status: 404 })
      for (const nothing of ['', null]) {
        await credentials.update(created.id, { sso_provider: 'github' })
        const without = await credentials.update(created.id, { sso_provider: nothing })
        assert.equal(without.sso_provider, null)
      }

      await credentials.delete(created.id)
      await credentials.delete(created.id)
      await assert.rejects(credentials.retrieve(created.id), { status: 404 })
      await assert.rejects(credentials.delete(`${name}!`), { status: 404 })
    })

    test('sets a secret for one-time codes, returns codes, and removes it', async () => {
      const { credentials } = newClient(server)
      const created = await credentials.create({
        name: `codes ${version}`,
        domain: 'https://GitHub.com/login',
        values: {},
        totp_secret: 'jbsw y3dp-ehpk 3pxp jbsw y3dp ehpk 3pxp==',
      })
      assert.equal(created.domain, 'github.com')
      assert.deepEqual([created.has_totp_secret, created.has_values], [true, false])
      assert.ok(isCodeOf(created.totp_code, SEED))
      const left = Date.parse(created.totp_code_expires_at!) - Date.now()
      assert.ok(left > -1_000 && left <= 30_000, `${left} ms`)

      const read = await credentials.retrieve(created.id)
      assert.deepEqual([read.totp_code, read.totp_code_expires_at], [undefined, undefined])
      const { code, expires_at } = await credentials.totpCode(created.name)
      assert.ok(isCodeOf(code, SEED))
      assert.ok(Date.parse(expires_at) > Date.now() - 1_000)

      const same = await credentials.update(created.id, { values: { email: 'a@b.example' } })
      assert.deepEqual([same.has_totp_secret, same.totp_code], [true, undefined])
      const other = await credentials.update(created.id, { totp_secret: 'MFRGGZDFMZTWQ2LK' })
      assert.ok(isCodeOf(other.totp_code, 'MFRGGZDFMZTWQ2LK'))

      const without = await credentials.update(created.id, { totp_secret: '' })
      assert.deepEqual([without.has_totp_secret, without.totp_code], [false, undefined])
      await assert.rejects(credentials.totpCode(created.id), { status: 404 })
      await credentials.delete(created.id)
    })

    test('a name is unique in a project, and free again after a delete', async () => {
      const { credentials } = newClient(server)
      const body = { name: `unique ${version}`, domain: 'a.example', values: { password: 'x' } }
      const first = await credentials.create(body)
      await assert.rejects(credentials.create(body), isTaken)
      const second = await credentials.create({ ...body, name: `${body.name} 2` })
      await assert.rejects(credentials.update(second.id, { name: body.name }), isTaken)
      await credentials.update(first.id, { name: body.name })
      await credentials.delete(first.id)
      await credentials.update(second.id, { name: body.name })
      await credentials.delete(body.name)
    })

    test('lists credentials page by page and by domain, without the names of their values', async () => {
      const { credentials } = newClient(server)
      const made: string[] = []
      for (const index of [1, 2, 3, 4, 5]) {
        const { id } = await credentials.create({
          name: `listed ${version} ${index}`,
          domain: index < 3 ? 'one.example' : 'two.example',
          values: { password: 'secret-of-a-list' },
        })
        made.unshift(id)
      }
      for (const limit of [1, 2, 100]) {
        const all = await Array.fromAsync(credentials.list({ limit }))
        assert.deepEqual(
          all.map(({ id }) => id),
          made,
          'newest first, each once',
        )
        for (const each of all) assert.ok(!('value_keys' in each) && each.has_values)
      }
      const found = await Array.fromAsync(credentials.list({ domain: 'One.example' }))
      assert.deepEqual(
        found.map(({ id }) => id),
        made.slice(3),
      )
      for (const id of made) await credentials.delete(id)
    })
  })
}

describe('newer clients', () => {
  for (const [version, newClient] of Object.entries({ '0.70.0': client70, '0.84.0': client84 })) {
    test(`${version} searches by a part of the name or domain, and by the whole id`, async () => {
      const { credentials } = newClient(server)
      const north = await credentials.create({ name: 'North 100%', domain: 'fjord.example', values: {} })
      const south = await credentials.create({ name: 'south', domain: 'bay.example', values: {} })
      const found = async (query: string) =>
        (await Array.fromAsync(credentials.list({ query }))).map(({ name }) => name)
      assert.deepEqual(await found('NORTH'), ['North 100%'])
      assert.deepEqual(await found('0%'), ['North 100%'])
      assert.deepEqual(await found('%'), ['North 100%'])
      assert.deepEqual(await found('BAY.'), ['south'])
      assert.deepEqual(await found('example'), ['south', 'North 100%'])
      assert.deepEqual(await found(south.id), ['south'])
      assert.deepEqual(await found(south.id.slice(1)), [], 'not by a part of the id')
      await credentials.delete(north.id)
      await credentials.delete(south.id)
    })
  }

  test('0.84 merges values, after removing some', async () => {
    const { credentials } = client84(server)
    const { id } = await credentials.create({
      name: 'merged',
      domain: 'a.example',
      values: { username: 'u', password: 'p', company_id: '7' },
    })
    const keysAfter = async (change: Parameters<typeof credentials.update>[1]) =>
      (await credentials.update(id, change)).value_keys?.toSorted()
    assert.deepEqual(await keysAfter({ values: { pin: '1', password: 'q' } }), [
      'company_id',
      'password',
      'pin',
      'username',
    ])
    assert.deepEqual(await keysAfter({ remove_value_keys: ['pin', 'absent'] }), [
      'company_id',
      'password',
      'username',
    ])
    assert.deepEqual(
      await keysAfter({ remove_value_keys: ['company_id', 'username'], values: { username: 'v' } }),
      ['password', 'username'],
    )
    assert.deepEqual(await keysAfter({}), ['password', 'username'])
    const empty = await credentials.update(id, { remove_value_keys: ['password', 'username'] })
    assert.deepEqual([empty.value_keys, empty.has_values], [[], false])
    await credentials.delete(id)
  })
})

test('parallel changes are all stored', async () => {
  const { credentials } = client84(server)
  const { id } = await credentials.create({ name: 'busy', domain: 'a.example', values: {} })
  const names = Array.from({ length: 20 }, (_, index) => `value${index}`)
  await Promise.all(names.map((name) => credentials.update(id, { values: { [name]: 'x' } })))
  assert.deepEqual((await credentials.retrieve(id)).value_keys?.toSorted(), names.toSorted())
  await Promise.all(names.map(() => credentials.delete(id)))
})

test('an authenticator URI is accepted, and overrides the fields beside it', async () => {
  const { credentials } = client84(server)
  const uri = `otpauth://totp/ACME:bob%40example.com?secret=${SEED}&issuer=ACME&algorithm=SHA256&digits=8`
  const body = { name: 'by uri', domain: 'a.example', values: {}, totp_secret: uri }
  const created = await credentials.create({ ...body, totp_digits: 7, totp_period: 60 } as typeof body)
  const totp = new TOTP({ secret: Secret.fromBase32(SEED), algorithm: 'SHA256', digits: 8, period: 60 })
  const now = Date.now()
  assert.ok([now, now - 60_000].some((timestamp) => totp.generate({ timestamp }) === created.totp_code))
  await credentials.delete(created.id)
})

const wrong: [what: string, body: object, field: RegExp][] = [
  ['a blank name', { name: '  ' }, /name: /],
  ['no domain', { domain: 'no domain' }, /domain: /],
  ['a domain behind a user name', { domain: 'evil.example@bank.example' }, /domain: /],
  ['another scheme', { domain: 'ftp://a.example' }, /domain: /],
  ['a pattern as domain', { domain: '*.example' }, /domain: /],
  ['a secret that is not base32', { totp_secret: 'not-base-32-at-all-0189' }, /totp_secret: /],
  ['a short secret', { totp_secret: 'JBSWY3DP' }, /totp_secret: /],
  ['a URI of counted codes', { totp_secret: `otpauth://hotp/a?secret=${SEED}&counter=1` }, /totp_secret: /],
  ['a URI without a secret', { totp_secret: 'otpauth://totp/a?digits=6' }, /totp_secret: /],
  ['a URI with 5 digits', { totp_secret: `otpauth://totp/a?secret=${SEED}&digits=5` }, /totp_secret: /],
  ['a URI with MD5', { totp_secret: `otpauth://totp/a?secret=${SEED}&algorithm=MD5` }, /totp_secret: /],
  ['digits without a secret', { totp_digits: 6 }, /totp_digits: /],
  ['a value that is no text', { values: { password: 7 } }, /values\.password: /],
  ['a value without a name', { values: { '': 'x' } }, /values/],
  ['a name with a line break', { values: { 'a\nb': 'x' } }, /values/],
  [
    'too many values',
    { values: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [i, 'x'])) },
    /values: /,
  ],
]

for (const [what, change, field] of wrong) {
  test(`${what} is refused, and the error repeats nothing secret`, async () => {
    const { credentials } = client84(server)
    const body = { name: 'refused', domain: 'a.example', values: {}, ...change }
    await assert.rejects(credentials.create(body), (error: { status?: number; message: string }) => {
      assert.equal(error.status, 400)
      assert.match(error.message, field)
      assert.ok(!error.message.includes(SEED) && !error.message.includes('not-base-32'), error.message)
      return true
    })
  })
}

test('a repeated request returns the credential, but not the code again', async () => {
  const request = {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': 'credential-once' },
    body: JSON.stringify({ name: 'once', domain: 'a.example', values: {}, totp_secret: SEED }),
  }
  const first = (await (await server.fetch('/credentials', request)).json()) as Record<string, unknown>
  const again = await server.fetch('/credentials', request)
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
  const { totp_code: _code, totp_code_expires_at: _expires, ...rest } = first
  assert.ok(_code && _expires)
  assert.deepEqual(await again.json(), rest)
})

test('a project with a credential cannot be deleted', async () => {
  const client = client84(server)
  const project = await client.projects.create({ name: 'with a credential' })
  const own = client84(server, { headers: { 'X-Kernel-Project-Id': project.id } })
  const { id } = await own.credentials.create({ name: 'kept', domain: 'a.example', values: { a: 'b' } })
  await assert.rejects(client.projects.delete(project.id), /it has 1 credentials/)
  await own.credentials.delete(id)
  await client.projects.delete(project.id)
})
