// Reading from a 1Password Connect server and from Vault over their own protocols, as a login does.
import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { after, describe, test } from 'node:test'
import { EgressPolicy } from '@berth/server/instances/egress/policy'
import { DirectUpstream } from '@berth/server/instances/egress/upstream'
import { ConnectServer } from '@berth/server/logins/providers/sources/connect-server'
import type { SecretSource } from '@berth/server/logins/providers/sources/source'
import { VaultServer } from '@berth/server/logins/providers/sources/vault-server'
import { newCertificate } from '../fixtures/certificates.ts'
import { connectLogin, startConnect } from '../fixtures/connect-server.ts'
import type { SecretServer } from '../fixtures/secret-server.ts'
import { startVault } from '../fixtures/vault-server.ts'

const owner = { after }
const { signal } = new AbortController()
const OTPAUTH = 'otpauth://totp/x?secret=JBSWY3DPEHPK3PXP&digits=6'

const connect = await startConnect(owner, {
  vaults: [
    {
      id: 'vault1',
      name: 'Team',
      items: [
        connectLogin({
          id: 'item1',
          title: 'GitHub',
          urls: ['https://github.com/login', 'https://*.github.example'],
          username: 'octo@example.com',
          password: 'cat-password',
          others: [
            { id: 'a', type: 'STRING', label: 'Company ID', value: '4711', section: { id: 's' } },
            { id: 'b', type: 'CONCEALED', label: 'PIN', value: '0815' },
            { id: 'c', type: 'OTP', label: 'one-time password', value: OTPAUTH, totp: '123456' },
            { id: 'd', type: 'DATE', label: 'since', value: '2026-01-01' },
            { id: 'e', type: 'STRING', label: 'password', value: 'an older one' },
            { id: 'f', type: 'STRING', label: '', value: 'without a label' },
            { id: 'g', type: 'STRING', label: 'empty', value: '' },
          ],
        }),
        { id: 'note', title: 'A note', category: 'SECURE_NOTE' },
        connectLogin({ id: 'old', title: 'Archived', state: 'ARCHIVED', urls: ['https://github.com'] }),
      ],
    },
    { id: 'vault2', name: 'Ops', items: [connectLogin({ id: 'item2', title: 'Plain', username: 'root' })] },
  ],
})

const vault = await startVault(owner, {
  engines: {
    logins: {
      'github.com': {
        data: { user: 'octo', password: 'cat-password', otp: OTPAUTH, 'Company ID': 4711, deep: {} },
      },
      'team/mail': {
        data: { email: 'a@b.example', password: 'p' },
        customMetadata: { url: 'https://mail.example/login, *.mail.example' },
      },
      'team/hidden': { data: { password: 'p' }, isHidden: true },
      'team/deleted': { data: { password: 'p' }, isDeleted: true },
      'odd ?name#': { data: { username: 'odd' } },
    },
    'nested/engine': { one: { data: { username: 'n' } } },
  },
})

const policyFor = (...servers: SecretServer[]) =>
  new EgressPolicy({ allow: servers.map(({ port }) => `host.berth.internal:${port}`) })

interface SourceOptions {
  readonly token?: string
  readonly allowed?: boolean
  readonly answerMs?: number
}

function sourceOf(
  server: SecretServer,
  { token = server.token, allowed = true, answerMs = 10_000 }: SourceOptions = {},
): SecretSource {
  const policy = allowed ? policyFor(server) : new EgressPolicy({ allow: [] })
  const options = { address: new URL(server.url), token, answerMs, upstream: new DirectUpstream({ policy }) }
  return server === vault ? new VaultServer(options) : new ConnectServer(options)
}

test('a Connect server lists its vaults, and its logins with their addresses', async () => {
  const source = sourceOf(connect)
  assert.deepEqual(await source.listVaults(signal), [
    { id: 'vault1', name: 'Team' },
    { id: 'vault2', name: 'Ops' },
  ])
  connect.requests.length = 0
  const items = await source.listItems(signal)
  assert.deepEqual(items, [
    {
      id: 'item1',
      title: 'GitHub',
      vault: { id: 'vault1', name: 'Team' },
      urls: ['https://github.com/login', 'https://*.github.example'],
    },
    { id: 'item2', title: 'Plain', vault: { id: 'vault2', name: 'Ops' }, urls: [] },
  ])
  assert.deepEqual(connect.requests, [
    'GET /v1/vaults',
    'GET /v1/vaults/vault1/items',
    'GET /v1/vaults/vault2/items',
  ])
})

test('an item of a Connect server is read with its fields by label, and its seed', async () => {
  const source = sourceOf(connect)
  const [github, plain] = await source.listItems(signal)
  assert.deepEqual(await source.readLogin(github!, signal), {
    values: {
      username: 'octo@example.com',
      password: 'cat-password',
      company_id: '4711',
      pin: '0815',
      email: 'octo@example.com',
    },
    totpSecret: OTPAUTH,
  })
  assert.deepEqual(await source.readLogin(plain!, signal), {
    values: { username: 'root' },
    totpSecret: undefined,
  })
  assert.equal(await source.readLogin({ ...plain!, id: 'gone' }, signal), undefined)
})

test('Vault lists its engines of version 2, and their secrets with the addresses of their metadata', async () => {
  const source = sourceOf(vault)
  assert.deepEqual(await source.listVaults(signal), [
    { id: 'logins', name: 'logins' },
    { id: 'nested/engine', name: 'nested/engine' },
  ])
  vault.requests.length = 0
  const items = await source.listItems(signal)
  assert.deepEqual(
    items.map(({ title, vault: { name }, urls }) => [name, title, urls]),
    [
      ['logins', 'github.com', ['github.com']],
      ['logins', 'odd ?name#', []],
      ['logins', 'team/deleted', []],
      ['logins', 'team/hidden', []],
      ['logins', 'team/mail', ['https://mail.example/login', '*.mail.example']],
      ['nested/engine', 'one', []],
    ],
  )
  assert.ok(!vault.requests.some((request) => request.includes('/data/')), 'no value is read for a list')
})

test('a secret of Vault is read by the names of its fields', async () => {
  const source = sourceOf(vault)
  const items = new Map((await source.listItems(signal)).map((item) => [item.title, item]))
  const read = (title: string) => source.readLogin(items.get(title)!, signal)
  assert.deepEqual(await read('github.com'), {
    values: { username: 'octo', password: 'cat-password', company_id: '4711' },
    totpSecret: OTPAUTH,
  })
  assert.deepEqual(await read('team/mail'), {
    values: { password: 'p', email: 'a@b.example' },
    totpSecret: undefined,
  })
  assert.deepEqual(await read('odd ?name#'), { values: { username: 'odd' }, totpSecret: undefined })
  assert.deepEqual(await read('one'), { values: { username: 'n' }, totpSecret: undefined })
  assert.equal(await read('team/deleted'), undefined)
})

const misbehaviours: [
  what: string,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  RegExp,
][] = [
  [
    'repeats the token in an error',
    (request, response) => {
      response.writeHead(400).end(JSON.stringify({ message: JSON.stringify(request.headers) }))
    },
    /^it answers 400$/,
  ],
  ['fails', (_request, response) => void response.writeHead(503).end('{}'), /^it answers 503$/],
  ['is a web page', (_request, response) => void response.end('<html>'), /not JSON/],
  ['gives something else', (_request, response) => void response.end('{"data":7}'), /gives no list/],
  [
    'leads elsewhere',
    (request, response) => {
      response.writeHead(302, { location: `http://elsewhere.example/${request.url}` }).end()
    },
    /redirect \(302\)/,
  ],
  [
    'truncates the answer',
    (_request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('[')
      setImmediate(() => response.destroy())
    },
    /connection failed/,
  ],
  ['hangs up', (request) => void request.socket.destroy(), /connection failed \(ECONNRESET\)/],
  [
    'never stops',
    (_request, response) => {
      const chunk = Buffer.alloc(64 * 1024, 0x20)
      const more = () => {
        while (response.write(chunk));
      }
      response.on('drain', more).on('error', () => {})
      more()
    },
    /larger than 8 MiB/,
  ],
  [
    'has endless headers',
    (_request, response) => {
      response.writeHead(200, { 'x-long': 'x'.repeat(20_000) }).end('[]')
    },
    /connection failed \(HPE_HEADER_OVERFLOW\)/,
  ],
]

for (const server of [connect, vault]) {
  describe(server === connect ? 'Connect' : 'Vault', () => {
    for (const [what, answer, message] of misbehaviours) {
      test(`a server that ${what} has its own error, without the token`, async (t) => {
        server.misbehave = answer
        t.after(() => {
          server.misbehave = undefined
        })
        await assert.rejects(sourceOf(server).listVaults(signal), (error: Error) => {
          assert.equal(error.name, 'SourceFailure')
          assert.match(error.message, message)
          assert.ok(!error.message.includes(server.token))
          return true
        })
      })
    }

    test('a wrong token has its own error', async () => {
      const source = sourceOf(server, { token: 'wrong-token-5b' })
      await assert.rejects(source.listVaults(signal), /refuses the token \(40[13]\)/)
    })

    test('an address that the operator has not allowed is not reached', async () => {
      const before = server.requests.length
      const source = sourceOf(server, { allowed: false })
      await assert.rejects(source.listItems(signal), /not listed in BERTH_EGRESS_ALLOW/)
      assert.equal(server.requests.length, before)
    })

    test('a server that does not answer times out', async (t) => {
      server.misbehave = () => {}
      t.after(() => {
        server.misbehave = undefined
      })
      const source = sourceOf(server, { answerMs: 100 })
      await assert.rejects(source.listItems(signal), /took longer than 0.1 s to answer/)
    })

    test('a caller that leaves ends the request', async (t) => {
      const asked = Promise.withResolvers<void>()
      server.misbehave = () => asked.resolve()
      t.after(() => {
        server.misbehave = undefined
      })
      const leaving = new AbortController()
      const listing = sourceOf(server).listItems(leaving.signal)
      await asked.promise
      leaving.abort(new Error('left'))
      await assert.rejects(listing, /left/)
    })
  })
}

test('an untrusted certificate is refused before the token is sent', async () => {
  const certificate = newCertificate('host.berth.internal')
  const secured = await startConnect(owner, { vaults: [], certificate })
  await assert.rejects(sourceOf(secured).listVaults(signal), /connection failed \([A-Z_]+\)/)
  assert.deepEqual(secured.requests, [])
})

test('too many items are refused and not kept in memory', async () => {
  const items = Array.from({ length: 5_001 }, (_, index) =>
    connectLogin({ id: `i${index}`, title: `t${index}` }),
  )
  const full = await startConnect(owner, { vaults: [{ id: 'v', name: 'Full', items }] })
  await assert.rejects(sourceOf(full).listItems(signal), /more than 5000 items/)
})
