// Every method of `credentialProviders`, in each version of the published client.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { newCertificate } from '../fixtures/certificates.ts'
import { connectLogin, startConnect } from '../fixtures/connect-server.ts'
import { startServer, tempDir } from '../fixtures/server.ts'
import { startVault } from '../fixtures/vault-server.ts'
import { client55, client70, client84 } from './versions.ts'

const owner = { after }
const connect = await startConnect(owner, {
  vaults: [
    {
      id: 'v1',
      name: 'Team',
      items: [
        connectLogin({ id: 'i1', title: 'GitHub', urls: ['https://github.com'], password: 'cat-password' }),
        connectLogin({ id: 'i2', title: 'No address' }),
      ],
    },
    { id: 'v2', name: 'Empty', items: [] },
  ],
})
const vault = await startVault(owner, {
  engines: { logins: { 'web/github.com': { data: { username: 'u' } } } },
})
const server = await startServer(owner, {
  env: {
    BERTH_EGRESS_ALLOW: [connect, vault].map(({ port }) => `host.berth.internal:${port}`).join(','),
    BERTH_LOG_LEVEL: 'debug',
  },
})
const versions = { '0.55.0': client55, '0.70.0': client70, '0.84.0': client84 }
const items = [
  {
    id: 'i1',
    title: 'GitHub',
    vault_id: 'v1',
    vault_name: 'Team',
    path: 'Team/GitHub',
    urls: ['https://github.com'],
  },
  { id: 'i2', title: 'No address', vault_id: 'v1', vault_name: 'Team', path: 'Team/No address' },
]

/** The address of a Connect server, for which the published client has no field. */
const ofConnect = (name: string) => {
  const { url: server_url, token } = connect
  return { name, provider_type: 'onepassword' as const, token, server_url }
}

for (const [version, newClient] of Object.entries(versions)) {
  describe(`client ${version}`, () => {
    test('creates, reads, tests, changes and deletes a provider, and never returns its token', async () => {
      const { credentialProviders: providers } = newClient(server)
      const created = await providers.create(ofConnect(`mine ${version}`))
      assert.match(created.id, /^credprov_[a-z0-9]{24}$/)
      const { created_at, updated_at, id, ...rest } = created
      assert.equal(created_at, updated_at)
      assert.deepEqual(rest, {
        name: `mine ${version}`,
        provider_type: 'onepassword',
        enabled: true,
        priority: rest.priority,
        cache_ttl_seconds: 300,
        server_url: connect.url,
        project_ids: (rest as { project_ids?: string[] }).project_ids,
      })
      assert.deepEqual(await providers.retrieve(id), created)

      const vaults = [
        { id: 'v1', name: 'Team' },
        { id: 'v2', name: 'Empty' },
      ]
      assert.deepEqual(await providers.test(id), { success: true, vaults })
      assert.deepEqual(await providers.listItems(id), { items })

      const changed = await providers.update(id, { name: `other ${version}`, enabled: false, priority: 7 })
      assert.deepEqual([changed.name, changed.enabled, changed.priority], [`other ${version}`, false, 7])
      assert.ok(changed.updated_at > created.updated_at)
      assert.deepEqual(await providers.retrieve(id), changed)

      await providers.update(id, { token: 'another-token-3f8a' })
      const failed = await providers.test(id)
      assert.deepEqual([failed.success, failed.vaults], [false, []])
      assert.match(failed.error!, /it refuses the token \(401\)/)
      await assert.rejects(
        providers.listItems(id, { maxRetries: 0 }),
        (error: { status?: number; error?: { code?: string }; message: string }) => {
          assert.deepEqual([error.status, error.error?.code], [502, 'provider_unreachable'])
          assert.match(error.message, /refuses the token/)
          assert.ok(!error.message.includes('another-token'))
          return true
        },
      )

      await providers.delete(id)
      await providers.delete(id)
      await assert.rejects(providers.retrieve(id), { status: 404 })
      await assert.rejects(providers.test(id), { status: 404 })
    })

    test('a name is unique in the organisation', async () => {
      const { credentialProviders: providers } = newClient(server)
      const { id } = await providers.create(ofConnect(`unique ${version}`))
      await assert.rejects(providers.create(ofConnect(`unique ${version}`)), { status: 409 })
      await providers.delete(id)
      await providers.delete((await providers.create(ofConnect(`unique ${version}`))).id)
    })
  })
}

test('lists of the oldest client are whole arrays, newer ones are paged and searched', async () => {
  const [old, current] = [client55(server).credentialProviders, client84(server).credentialProviders]
  const made: { id: string; priority: number }[] = []
  for (const name of ['North', 'north-east', 'South']) made.push(await current.create(ofConnect(name)))
  const ids = made.map(({ id }) => id).toReversed()
  assert.deepEqual(
    (await old.list()).map(({ id }) => id),
    ids,
    'newest first',
  )
  for (const limit of [1, 2, 100]) {
    assert.deepEqual(
      (await Array.fromAsync(current.list({ limit }))).map(({ id }) => id),
      ids,
    )
  }
  const found = async (query: string) =>
    (await Array.fromAsync(current.list({ query }))).map(({ name }) => name)
  assert.deepEqual(await found('NORTH'), ['north-east', 'North'])
  assert.deepEqual(await found(made[2]!.id), ['South'])
  assert.deepEqual(await found(made[2]!.id.slice(1)), [])
  const priorities = made.map(({ priority }) => priority)
  assert.deepEqual(
    priorities,
    [...new Set(priorities)].toSorted((one, other) => one - other),
  )
  for (const { id } of made) await current.delete(id)
})

test('HashiCorp Vault is supported as a provider', async () => {
  const { credentialProviders: providers } = client84(server)
  const body = { name: 'vault', provider_type: 'hashicorp_vault', server_url: vault.url, token: vault.token }
  const { id } = await providers.create(body as never)
  assert.deepEqual(await providers.test(id), { success: true, vaults: [{ id: 'logins', name: 'logins' }] })
  assert.deepEqual((await providers.listItems(id)).items, [
    {
      id: 'web/github.com',
      title: 'web/github.com',
      vault_id: 'logins',
      vault_name: 'logins',
      path: 'logins/web/github.com',
      urls: ['github.com'],
    },
  ])
  await providers.delete(id)
})

test('a server is reached over TLS if the operator trusts its authority', async (t) => {
  const certificate = newCertificate('host.berth.internal')
  const secured = await startConnect(t, { vaults: [{ id: 'v', name: 'Safe', items: [] }], certificate })
  const NODE_EXTRA_CA_CERTS = join(tempDir(t), 'ca.pem')
  writeFileSync(NODE_EXTRA_CA_CERTS, certificate.ca)
  const BERTH_EGRESS_ALLOW = `host.berth.internal:${secured.port}`
  const trusting = await startServer(t, { env: { NODE_EXTRA_CA_CERTS, BERTH_EGRESS_ALLOW } })
  const { credentialProviders: providers } = client84(trusting)
  const { url: server_url, token } = secured
  const { id } = await providers.create({ ...ofConnect('over TLS'), server_url, token } as never)
  assert.deepEqual(await providers.test(id), { success: true, vaults: [{ id: 'v', name: 'Safe' }] })
})

test('a service account is accepted as the published client sends it, and the error says what is wrong with it', async () => {
  const { credentialProviders: providers } = client84(server)
  const content = { signInAddress: 'team.1password.com', secretKey: 'A3-OF-AN-ACCOUNT' }
  const token = `ops_${Buffer.from(JSON.stringify(content)).toString('base64url')}`
  const { id, ...shown } = await providers.create({ name: 'account', provider_type: 'onepassword', token })
  assert.ok(!('server_url' in shown))
  const result = await providers.test(id)
  assert.equal(result.success, false)
  assert.match(
    result.error!,
    /^Cannot read from credential provider "account": the token is cut or malformed/,
  )
  assert.ok(!JSON.stringify(result).includes(token))
  await providers.delete(id)
})

test('the paths of the first clients still work', async () => {
  const body = JSON.stringify(ofConnect('by the old path'))
  const headers = { 'content-type': 'application/json' }
  const created = await server.fetch('/org/credential-providers', { method: 'POST', body, headers })
  assert.equal(created.status, 201)
  const { id } = (await created.json()) as { id: string }
  const read = await server.fetch(`/org/credential-providers/${id}/items`)
  assert.deepEqual(await read.json(), { items })
  assert.equal((await server.fetch(`/org/credential-providers/${id}`, { method: 'DELETE' })).status, 204)
})

const wrong: [what: string, body: object, field: RegExp][] = [
  [
    'an invalid token of a service account',
    { token: 'eyJ-of-connect', server_url: undefined },
    /token: must be/,
  ],
  ['a service account at a server', { token: 'ops_abc' }, /server_url: is for Connect servers/],
  [
    'Vault without an address',
    { provider_type: 'hashicorp_vault', server_url: undefined },
    /server_url: is required/,
  ],
  ['no address', { server_url: 'connect' }, /server_url: must be an http/],
  ['another scheme', { server_url: 'file:///etc/passwd' }, /server_url: must be an http/],
  [
    'an address with a password',
    { server_url: 'https://u:p@connect.example' },
    /server_url: must have no user name/,
  ],
  [
    'an address with a query',
    { server_url: 'https://connect.example/?a=b' },
    /server_url: must have no user name/,
  ],
  ['a private address that is not open', { server_url: 'https://10.0.0.1' }, /server_url: cannot be reached/],
  [
    'a closed port of the host',
    { server_url: 'http://host.berth.internal:1' },
    /server_url: cannot be reached/,
  ],
  ['the metadata service', { server_url: 'http://169.254.169.254/latest' }, /server_url: cannot be reached/],
  ['a public address without TLS', { server_url: 'http://connect.example' }, /server_url: must be https/],
  ['a token with a line break', { token: 'a\r\nHost: evil' }, /token: /],
  ['a blank name', { name: ' ' }, /name: must not be blank/],
]

for (const [what, change, field] of wrong) {
  test(`${what} is refused`, async () => {
    const { credentialProviders: providers } = client84(server)
    await assert.rejects(providers.create({ ...ofConnect('refused'), ...change }), (error: Error) => {
      assert.match(error.message, field)
      return true
    })
  })
}

test('a token is never sent to a server other than its own', async () => {
  const { credentialProviders: providers } = client84(server)
  const { id } = await providers.create(ofConnect('moved'))
  vault.requests.length = 0
  for (const server_url of [vault.url, '', null]) {
    await assert.rejects(
      providers.update(id, { server_url } as object),
      /only be changed together with the token/,
    )
  }
  await providers.update(id, { server_url: connect.url } as object)
  await assert.rejects(
    providers.update(id, { server_url: '', token: 'eyJ-of-connect' } as object),
    /token: must be/,
  )
  await providers.update(id, { server_url: vault.url, token: 'of-the-new-place' } as object)
  assert.equal((await providers.test(id)).success, false)
  assert.deepEqual(vault.requests, ['GET /v1/vaults'])
  await providers.delete(id)
})

test('a project key may read the providers of its project, and nothing else', async () => {
  const client = client84(server)
  const { id } = await client.credentialProviders.create(ofConnect('of all'))
  const project = await client.projects.create({ name: 'below' })
  const { key } = await client.apiKeys.create({ name: 'of a project', project_id: project.id })
  const { credentialProviders: providers } = client84(server, { apiKey: key })
  const listed = async () => (await Array.fromAsync(providers.list())).map((each) => each.id)
  assert.deepEqual(await listed(), [])
  await assert.rejects(providers.retrieve(id), { status: 404 })
  await client.credentialProviders.update(id, { project_ids: [project.id] } as object)
  assert.deepEqual(await listed(), [id])
  assert.equal((await providers.retrieve(id)).name, 'of all')
  const refused = [
    () => providers.create(ofConnect('by a project')),
    () => providers.update(id, { enabled: false }),
    () => providers.listItems(id),
    () => providers.test(id),
    () => providers.delete(id),
  ]
  for (const ask of refused) await assert.rejects(ask(), { status: 403 })
  await client.credentialProviders.delete(id)
})
