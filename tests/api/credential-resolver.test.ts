// How the credential reference of a connection is resolved: from stored credentials and from providers.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test, type TestContext } from 'node:test'
import { sql } from 'kysely'
import type { Credential, CredentialReference } from '@berth/contracts/credentials'
import type { CreateCredentialProviderRequest } from '@berth/contracts/credential-providers'
import { isOf } from '@berth/login/hosts/hosts'
import { CredentialPasskeys } from '@berth/server/logins/credentials/passkeys'
import { CredentialResolver } from '@berth/server/logins/credentials/resolver'
import { CredentialSecrets } from '@berth/server/logins/credentials/secrets'
import { CredentialService } from '@berth/server/logins/credentials/service'
import { Hooks } from '@berth/server/logins/hooks/hook'
import { Mailboxes } from '@berth/server/logins/mailboxes/mailboxes'
import { CredentialProviderService } from '@berth/server/logins/providers/service'
import { Sources } from '@berth/server/logins/providers/sources'
import type { Db } from '@berth/server/platform/database/schema'
import { inTransaction } from '@berth/server/platform/database/transaction'
import { EgressPolicy } from '@berth/server/instances/egress/policy'
import { DirectUpstream } from '@berth/server/instances/egress/upstream'
import { insertProject } from '@berth/server/tenancy/projects/store'
import { Keyring } from '@berth/server/platform/secrets/keyring'
import { SealedBox } from '@berth/server/platform/secrets/sealed-box'
import { connectLogin, startConnect, type ConnectVault } from '../fixtures/connect-server.ts'
import { startDatabase } from '../fixtures/database.ts'
import { tempDir } from '../fixtures/server.ts'
import { startVault } from '../fixtures/vault-server.ts'

const owner = { after }
const { db, pool } = await startDatabase(owner)
const change = <T>(work: (tx: Db) => Promise<T>): Promise<T> => inTransaction(pool, ({ db: tx }) => work(tx))
await db
  .insertInto('organization')
  .values({ id: 'org' })
  .onConflict((conflict) => conflict.doNothing())
  .execute()
const { id: projectId } = await insertProject(db, 'Mine', true)
const { id: otherProjectId } = await insertProject(db, 'Theirs')

const team: ConnectVault = {
  id: 'v1',
  name: 'Team',
  items: [
    connectLogin({ id: 'i0', title: 'Lookalike', urls: ['https://evil-github.com'], username: 'evil' }),
    connectLogin({
      id: 'i1',
      title: 'GitHub',
      urls: ['https://github.com/login'],
      username: 'first',
      password: 'p1',
    }),
    connectLogin({ id: 'i2', title: 'GitHub', urls: ['https://github.com/login'], username: 'second' }),
    connectLogin({
      id: 'i3',
      title: 'Wild',
      urls: ['*.example.com'],
      username: 'wild',
      others: [{ type: 'OTP', label: 'code', value: 'JBSWY3DPEHPK3PXP' }],
    }),
    connectLogin({
      id: 'i4',
      title: 'Odd code',
      urls: ['odd.example'],
      username: 'odd',
      others: [{ type: 'OTP', label: 'code', value: 'not a seed' }],
    }),
  ],
}
const connect = await startConnect(owner, { vaults: [team] })
const vault = await startVault(owner, {
  engines: { logins: { 'github.com': { data: { username: 'of-vault', password: 'p2' } } } },
})
const policy = new EgressPolicy({
  allow: [connect, vault].map(({ port }) => `host.berth.internal:${port}`),
})
const box = new SealedBox(await Keyring.open({ dataDir: tempDir(owner), fromSetting: [] }))
const secrets = new CredentialSecrets(box)
const sources = new Sources({ box, policy, upstream: new DirectUpstream({ policy }) })
const direct = { policy }
const hooks = new Hooks({ policy, upstream: new DirectUpstream(direct) })
const mailboxes = new Mailboxes({ policy, direct, hooks })
const uses: string[] = []
const credentials = new CredentialService({
  secrets,
  uses: [
    {
      renamed: (_tx, project, { from, to }) =>
        Promise.resolve(void uses.push(`${project}: ${from} is ${to}`)),
      deleted: (_tx, project, name) => Promise.resolve(void uses.push(`${project}: ${name} is gone`)),
    },
  ],
  mailboxes,
  defaultProject: () => Promise.resolve({ id: projectId }),
})
const providers = new CredentialProviderService({
  db,
  sources,
  defaultProject: () => Promise.resolve({ id: projectId }),
})
const resolver = new CredentialResolver({
  db,
  secrets,
  passkeys: new CredentialPasskeys(box),
  sources,
  mailboxes,
})

const principal = {
  keyId: 'key',
  projectId: null,
  isProjectArchived: false,
  creator: { id: 'operator', name: null, email: 'o@example.com' },
}
const caller = { principal, projectId }
const { signal } = new AbortController()
const unique = () => randomBytes(4).toString('hex')

async function newCredential(body: object = {}): Promise<Credential> {
  return change((tx) =>
    credentials.create(tx, caller, {
      name: unique(),
      domain: 'a.example',
      values: { password: 'p' },
      ...body,
    }),
  )
}

async function newProvider(t: TestContext, body: Partial<CreateCredentialProviderRequest> = {}) {
  const { url: server_url, token } = connect
  const request = { name: unique(), provider_type: 'onepassword' as const, server_url, token, ...body }
  const { id, name } = await change((tx) => providers.create(tx, caller, request))
  t.after(() => providers.delete(db, id))
  return { id, name }
}

const resolve = (reference: CredentialReference, domain = 'github.com', project = projectId) =>
  resolver.resolve(project, reference, { domain, signal })

test('a stored credential returns its values, fresh codes, and its provider', async () => {
  const { name } = await newCredential({
    values: { email: 'a@b.example', password: 'p', empty: '' },
    totp_secret: 'JBSWY3DPEHPK3PXP',
    sso_provider: 'google',
  })
  const known = await resolve({ name })
  assert.deepEqual(known?.values, { email: 'a@b.example', password: 'p' })
  assert.equal(known?.ssoProvider, 'google')
  const now = known.totp!()
  assert.match(now.code, /^\d{6}$/)
  assert.ok(now.expiresAt.getTime() > Date.now())
  const later = known.totp!(now.validFrom)
  assert.deepEqual(later.validFrom, now.expiresAt)
  assert.equal(
    await resolve({ name }, 'a.example', otherProjectId),
    undefined,
    'another project cannot use it',
  )
  assert.equal(await resolve({ name: 'absent' }), undefined)
})

test('an item of a provider is found by its path, and the first wins if two match', async (t) => {
  const { name: provider } = await newProvider(t)
  const known = await resolve({ provider, path: 'Team/GitHub' }, 'elsewhere.example')
  assert.deepEqual(known, {
    values: { username: 'first', password: 'p1' },
    totp: undefined,
    ssoProvider: undefined,
    hosts: ['github.com:443', '*.github.com:443'],
  })
  for (const path of ['Team/github', 'team/GitHub', 'Team/Absent', 'Absent/GitHub']) {
    assert.equal(await resolve({ provider, path }), undefined, path)
  }
})

test('an item is found by the exact domain of its addresses', async (t) => {
  const { name: provider } = await newProvider(t)
  const found = async (domain: string) =>
    (await resolve({ provider, auto: true }, domain))?.values['username']
  assert.equal(await found('github.com'), 'first')
  assert.equal(await found('app.example.com'), 'wild')
  for (const domain of ['gist.github.com', 'notgithub.com', 'github.com.evil.example', 'example.com']) {
    assert.equal(await found(domain), undefined, domain)
  }
})

test('only the projects that a provider names can use it or see it', async (t) => {
  const { id, name: provider } = await newProvider(t)
  const reference = { provider, path: 'Team/GitHub' }
  const standing = () => resolver.standing(db, otherProjectId, reference)
  const used = async () => [
    await resolve(reference, 'github.com', otherProjectId),
    await resolve({ provider, auto: true }, 'github.com', otherProjectId),
    await resolve({ auto: true }, 'github.com', otherProjectId),
  ]
  assert.deepEqual(await used(), [undefined, undefined, undefined])
  assert.equal(await standing(), undefined)
  await assert.rejects(check(reference, otherProjectId), /credential\.provider: is not a credential provider/)
  const theirs = { principal: { projectId: otherProjectId }, projectId: null }
  await assert.rejects(providers.get(db, theirs, id), { code: 'not_found' })
  assert.deepEqual((await providers.list(db, theirs, {})).items, [])

  await providers.update(db, id, { project_ids: [projectId, otherProjectId] })
  await check(reference, otherProjectId)
  assert.ok((await used()).every((known) => known?.values['username'] === 'first'))
  assert.ok(await standing())
  assert.deepEqual((await providers.get(db, theirs, id)).project_ids, [otherProjectId])
  await assert.rejects(
    providers.update(db, id, { project_ids: ['proj_absent'] }),
    /project_ids: names no project/,
  )
  await providers.update(db, id, { project_ids: [] })
  assert.equal(await resolve(reference), undefined, 'no project can use it any more')
})

const hostsOf = async (reference: CredentialReference) => (await resolve(reference, 'evil.example'))!.hosts

test('a credential is typed only where its own domains say', async (t) => {
  const { name: provider } = await newProvider(t)
  const item = await hostsOf({ provider, path: 'Team/GitHub' })
  assert.ok(isOf('https://github.com/login', item) && isOf('https://gist.github.com', item))
  for (const address of [
    'https://evil.example',
    'http://github.com',
    'https://github.com:8443',
    'https://github.com.evil.example',
    'https://evil-github.com',
    'https://evil.auth0.com',
    'https://accounts.google.com',
  ]) {
    assert.ok(!isOf(address, item), address)
  }
  const wild = await hostsOf({ provider, path: 'Team/Wild' })
  assert.ok(isOf('https://app.example.com', wild) && !isOf('https://example.com', wild))

  const { id, name } = await newCredential({ domain: 'bank.com', allowed_domains: ['sso.b.example:8443'] })
  const stored = await hostsOf({ name })
  assert.ok(isOf('https://login.bank.com', stored) && isOf('https://sso.b.example:8443', stored))
  assert.ok(isOf('https://accounts.google.com', stored), 'a well-known identity provider')
  assert.ok(!isOf('https://evil.example', stored) && !isOf('https://bank.com:9443', stored))

  const ofProject = { principal: { ...principal, projectId }, projectId: null }
  const widen = (who: typeof caller | typeof ofProject, allowed_domains: string[]) =>
    change((tx) => credentials.update(tx, who, id, { allowed_domains }))
  await assert.rejects(widen(ofProject, ['sso.b.example:8443', 'evil.example']), { code: 'forbidden' })
  await assert.rejects(widen(caller, ['*.com']), /allowed_domains\[0\]/)
  await widen(caller, ['sso.b.example:8443', 'c.example'])
  assert.deepEqual((await widen(ofProject, ['c.example'])).allowed_domains, ['c.example'])
  await change((tx) => resolver.allow(tx, projectId, { name }, ['bank.com', 'd.example']))
  assert.deepEqual((await credentials.get(db, caller, name)).allowed_domains, ['c.example', 'd.example'])
})

test('the seed of an item makes codes; a person is asked if the value is not a seed', async (t) => {
  const { name: provider } = await newProvider(t)
  const wild = await resolve({ provider, path: 'Team/Wild' })
  assert.match(wild!.totp!().code, /^\d{6}$/)
  const odd = await resolve({ provider, path: 'Team/Odd code' })
  assert.deepEqual([odd!.values, odd!.totp], [{ username: 'odd' }, undefined])
})

test('without a name, providers are asked by priority, and one that fails does not hide the others', async (t) => {
  const first = await newProvider(t, { token: 'wrong-token' })
  const second = await newProvider(t, {
    provider_type: 'hashicorp_vault',
    server_url: vault.url,
    token: vault.token,
  })
  const third = await newProvider(t)
  const prioritise = (id: string, priority: number) => providers.update(db, id, { priority })
  const found = async () => (await resolve({ auto: true }))?.values['username']
  await prioritise(second.id, 1_000_000)
  await prioritise(third.id, 0)
  await prioritise(first.id, 1)
  assert.equal(await found(), 'first')
  await prioritise(second.id, 0)
  await prioritise(third.id, 1_000_000)
  assert.equal(await found(), 'of-vault')
  await providers.update(db, second.id, { enabled: false })
  assert.equal(await found(), 'first', 'a disabled provider is not asked')
  assert.equal(await resolve({ provider: second.name, auto: true }), undefined)
  await assert.rejects(resolve({ auto: true }, 'nobody.example'), { code: 'provider_unreachable' })
  await providers.delete(db, first.id)
  assert.equal(await resolve({ auto: true }, 'nobody.example'), undefined)
})

test('lists are cached for as long as the provider allows, and values are read each time', async (t) => {
  const { id, name: provider } = await newProvider(t)
  connect.requests.length = 0
  const read = () => resolve({ provider, path: 'Team/GitHub' })
  await Promise.all([read(), read(), read()])
  const lists = () => connect.requests.filter((request) => request.endsWith('/items')).length
  const values = () => connect.requests.filter((request) => request.endsWith('/items/i1')).length
  assert.deepEqual([lists(), values()], [1, 3])
  await read()
  assert.deepEqual([lists(), values()], [1, 4])
  await providers.test(id, signal)
  await read()
  assert.deepEqual([lists(), values()], [2, 5], 'a test of the provider reads the list again')
  await providers.update(db, id, { cache_ttl_seconds: 0 })
  await read()
  await read()
  assert.deepEqual([lists(), values()], [4, 7])
})

test('a failed list is not cached', async (t) => {
  const { name: provider } = await newProvider(t)
  connect.misbehave = (_request, response) => void response.writeHead(500).end()
  t.after(() => {
    connect.misbehave = undefined
  })
  await assert.rejects(resolve({ provider, auto: true }), { code: 'provider_unreachable' })
  connect.misbehave = undefined
  assert.ok(await resolve({ provider, auto: true }))
})

test('a list that takes too long times out', async (t) => {
  const { id, name: provider } = await newProvider(t)
  const record = await db
    .selectFrom('credential_providers')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  connect.misbehave = () => {}
  t.after(() => {
    connect.misbehave = undefined
  })
  const hasty = new Sources({ box, policy, upstream: new DirectUpstream({ policy }), listMs: 100 })
  await assert.rejects(hasty.items(record, signal), {
    code: 'provider_unreachable',
    message: `Cannot read from credential provider "${provider}": it took longer than 0.1 s to list its items`,
  })
})

test('an item that was deleted after it was listed is not found', async (t) => {
  const { name: provider } = await newProvider(t)
  team.items.push(connectLogin({ id: 'brief', title: 'Brief', username: 'b' }))
  assert.ok(await resolve({ provider, path: 'Team/Brief' }))
  team.items.pop()
  assert.equal(await resolve({ provider, path: 'Team/Brief' }), undefined)
})

const check = (reference: object, project = projectId) =>
  change((tx) => resolver.check(tx, project, reference))

test('the reference of a connection is checked, and errors name the field', async (t) => {
  const { name } = await newCredential()
  const { name: provider } = await newProvider(t)
  for (const reference of [{ name }, { provider, path: 'A/B' }, { provider, auto: true }, { auto: true }]) {
    await check(reference)
  }
  const wrong: [reference: object, field: RegExp][] = [
    [{}, /credential: must be one of/],
    [{ auto: false }, /credential: must be one of/],
    [{ provider }, /credential: must be one of/],
    [{ path: 'A/B' }, /credential: must be one of/],
    [{ name, provider, auto: true }, /credential: must be one of/],
    [{ provider, path: 'A/B', auto: true }, /credential: must be one of/],
    [{ name: 'absent' }, /credential\.name: is not a credential/],
    [{ provider: 'absent', auto: true }, /credential\.provider: is not a credential provider/],
    ...['Item', '/Item', 'Vault/', '/'].map((path): [object, RegExp] => [
      { provider, path },
      /credential\.path: must be a vault and an item/,
    ]),
  ]
  for (const [reference, field] of wrong) await assert.rejects(check(reference), field)
  await assert.rejects(check({ name }, otherProjectId), /credential\.name: is not a credential/)
})

async function isAnyoneWaiting(): Promise<boolean> {
  const { rows } = await sql`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'`.execute(db)
  return rows.length > 0
}

test('a checked credential cannot be deleted before the connection refers to it', async () => {
  const { id, name } = await newCredential()
  const order: string[] = []
  let deleting: Promise<unknown> | undefined
  await change(async (tx) => {
    await resolver.check(tx, projectId, { name })
    deleting = change((other) => credentials.delete(other, caller, id)).then(() => order.push('deleted'))
    while (order.length === 0 && !(await isAnyoneWaiting())) await resolver.standing(tx, projectId, { name })
    order.push('referred to')
  })
  await deleting
  assert.deepEqual(order, ['referred to', 'deleted'])
})

test('the server can tell without asking a provider whether a connection can log in without a person', async (t) => {
  const plain = await newCredential({ values: { email: 'a', password: 'p', pin: '' } })
  const coded = await newCredential({ totp_secret: 'JBSWY3DPEHPK3PXP' })
  const { id, name: provider } = await newProvider(t)
  connect.requests.length = 0
  const standing = (reference: CredentialReference) => resolver.standing(db, projectId, reference)
  assert.deepEqual(await standing({ name: plain.name }), {
    isExternal: false,
    hasTotp: false,
    hasMailbox: false,
    valueKeys: ['email', 'password'],
    passkeyRpIds: [],
  })
  assert.equal((await standing({ name: coded.name }))?.hasTotp, true)
  await db
    .updateTable('credentials')
    .set({ sealed_values: Buffer.from('x') })
    .where('id', '=', coded.id)
    .execute()
  assert.equal((await standing({ name: coded.name }))?.valueKeys, undefined, 'it does not decrypt')
  assert.equal(await standing({ name: 'absent' }), undefined)
  assert.deepEqual(await standing({ provider, auto: true }), {
    isExternal: true,
    hasTotp: undefined,
    hasMailbox: false,
    valueKeys: undefined,
  })
  await providers.update(db, id, { enabled: false })
  assert.equal(await standing({ provider, auto: true }), undefined)
  assert.deepEqual(connect.requests, [])
})

test('a login is saved in the credential that it used', async () => {
  const { name, updated_at } = await newCredential({
    values: { email: 'a', password: 'old', company_id: '7' },
  })
  const keep = (values: Record<string, string>, ssoProvider?: string) =>
    change((tx) =>
      resolver.keep(tx, projectId, {
        reference: { name },
        domain: 'a.example',
        values,
        ssoProvider,
        typedAt: ['evil.example'],
      }),
    )
  assert.deepEqual(await keep({ email: 'a' }), { name })
  assert.equal((await credentials.get(db, caller, name)).updated_at, updated_at, 'nothing was new')
  assert.deepEqual(await keep({ password: 'new', pin: '1' }, 'google'), { name })
  const known = await resolve({ name })
  assert.deepEqual(known?.values, { email: 'a', password: 'new', company_id: '7', pin: '1' })
  assert.equal(known?.ssoProvider, 'google')
  assert.ok(!known.hosts.some((host) => host.includes('evil')), 'a login does not widen where it is typed')
  await keep({}, 'github')
  assert.equal((await resolve({ name }))?.ssoProvider, 'google', 'an existing value is kept')
})

test('a login without a credential creates a new one with a free name', async () => {
  const domain = `${unique()}.example`
  await newCredential({ name: domain, values: { password: 'of somebody' } })
  const keep = (values: Record<string, string>, reference?: CredentialReference) =>
    change((tx) =>
      resolver.keep(tx, projectId, {
        reference,
        domain,
        values,
        ssoProvider: undefined,
        typedAt: [domain, `sso.${domain}:8443`],
      }),
    )
  assert.deepEqual(await keep({ password: 'mine' }), { name: `${domain} (2)` })
  assert.deepEqual(await keep({ password: 'another' }), { name: `${domain} (3)` })
  assert.deepEqual((await resolve({ name: domain }))?.values, { password: 'of somebody' })
  const mine = await resolve({ name: `${domain} (2)` })
  assert.deepEqual(mine?.values, { password: 'mine' })
  assert.ok(
    mine.hosts.includes(`${domain}:443`) && mine.hosts.includes(`sso.${domain}:8443`),
    mine.hosts.join(),
  )
  assert.equal(await keep({}), undefined, 'nothing was typed')
  assert.equal(await keep({ password: 'x' }, { name: 'deleted meanwhile' }), undefined)
  const external = { provider: 'somewhere', auto: true }
  assert.deepEqual(await keep({ password: 'x' }, external), external, 'the item of a provider is not changed')
})

test('connections follow when their credential is renamed or deleted', async () => {
  const { id, name } = await newCredential()
  uses.length = 0
  await credentials.update(db, caller, id, { values: { a: 'b' }, name })
  assert.deepEqual(uses, [])
  await credentials.update(db, caller, id, { name: `${name}!` })
  assert.deepEqual([...new Set(uses)], [`${projectId}: ${name} is ${name}!`])
  uses.length = 0
  await credentials.delete(db, caller, id)
  assert.deepEqual([...new Set(uses)], [`${projectId}: ${name}! is gone`])
  uses.length = 0
  await credentials.delete(db, caller, id)
  assert.deepEqual(uses, [])
})

test('saving a login while its credential is changed or deleted causes no deadlock', async () => {
  // Stands for the row of a connection, which logins lock first.
  const CONNECTION = 7_331
  const lockConnection = (tx: Db) => sql`SELECT pg_advisory_xact_lock(${CONNECTION})`.execute(tx)
  const service = new CredentialService({
    secrets,
    uses: [
      {
        renamed: async (tx) => void (await lockConnection(tx)),
        deleted: async (tx) => void (await lockConnection(tx)),
      },
    ],
    mailboxes,
    defaultProject: () => Promise.resolve({ id: projectId }),
  })
  for (const meanwhile of [
    async (tx: Db, id: string) => void (await service.update(tx, caller, id, { name: unique() })),
    (tx: Db, id: string) => service.delete(tx, caller, id),
  ]) {
    const { id, name } = await newCredential()
    let changing: Promise<unknown> | undefined
    await change(async (tx) => {
      await lockConnection(tx)
      changing = change((other) => meanwhile(other, id))
      while (!(await isAnyoneWaiting())) await resolver.standing(db, projectId, { name })
      const login = {
        reference: { name },
        domain: 'a.example',
        values: { pin: '1' },
        ssoProvider: undefined,
        typedAt: [],
      }
      assert.deepEqual(await resolver.keep(tx, projectId, login), { name })
    })
    await changing
  }
})
