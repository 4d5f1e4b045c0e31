// A test cannot count on 1Password's cloud: what it answers is given by the tests, and its SDK is tested without answers.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { reasonOf } from './onepassword-sdk.ts'
import { isServiceToken, ServiceAccount, type OnePasswordClient } from './service-account.ts'

const TOKEN = tokenOf({ signInAddress: 'team.1password.eu', secretKey: 'A3-SECRET' })
const { signal } = new AbortController()

function tokenOf(content: object): string {
  return `ops_${Buffer.from(JSON.stringify(content)).toString('base64url')}`
}

const login = {
  id: 'item1',
  title: 'GitHub',
  category: 'Login',
  websites: [
    { url: 'https://github.com', label: 'website', autofillBehavior: 'AnywhereOnWebsite' },
    { url: 'https://never.example', label: 'website', autofillBehavior: 'Never' },
  ],
}

const fields = [
  { id: 'username', title: 'username', fieldType: 'Text', value: 'octo@example.com' },
  { id: 'password', title: 'password', fieldType: 'Concealed', value: 'cat-password' },
  { id: 'x1', title: 'Company ID', fieldType: 'Text', sectionId: 's', value: '4711' },
  {
    id: 'x2',
    title: 'one-time password',
    fieldType: 'Totp',
    sectionId: 's',
    value: 'otpauth://totp/x?secret=A',
  },
  { id: 'x3', title: 'key', fieldType: 'SshKey', value: 'no login' },
]

function clientWith(change: Partial<OnePasswordClient['items']> = {}): OnePasswordClient {
  return {
    vaults: { list: () => Promise.resolve([{ id: 'v1', title: 'Team' }]) },
    items: {
      list: () => Promise.resolve([login, { ...login, id: 'card', category: 'CreditCard' }]),
      get: () => Promise.resolve({ fields }),
      ...change,
    },
  }
}

const accountWith = (change?: Partial<OnePasswordClient['items']>) =>
  new ServiceAccount({ token: TOKEN, open: () => Promise.resolve(clientWith(change)) })

test('lists vaults and logins with their URLs', async () => {
  const account = accountWith()
  assert.deepEqual(await account.listVaults(signal), [{ id: 'v1', name: 'Team' }])
  assert.deepEqual(await account.listItems(signal), [
    { id: 'item1', title: 'GitHub', vault: { id: 'v1', name: 'Team' }, urls: ['https://github.com'] },
  ])
})

test('reads an item with its fields by title, and its seed', async () => {
  const account = accountWith()
  const [item] = await account.listItems(signal)
  assert.deepEqual(await account.readLogin(item!, signal), {
    values: {
      username: 'octo@example.com',
      password: 'cat-password',
      company_id: '4711',
      email: 'octo@example.com',
    },
    totpSecret: 'otpauth://totp/x?secret=A',
  })
})

test("reports a failure in our own words, because the SDK's may contain anything", async () => {
  const failing = new ServiceAccount({
    token: TOKEN,
    open: (token) => Promise.reject(new Error(`invalid token ${token}`)),
  })
  await assert.rejects(failing.listVaults(signal), (error: Error) => {
    assert.equal(error.name, 'SourceFailure')
    assert.match(error.message, /refuses the token of the service account, or cannot be reached/)
    assert.ok(!error.message.includes(TOKEN) && error.cause === undefined)
    return true
  })
})

test('an SDK that never answers does not hold a caller who has left', async () => {
  const asked = Promise.withResolvers<void>()
  const account = accountWith({
    list: () => {
      asked.resolve()
      return new Promise(() => {})
    },
  })
  const leaving = new AbortController()
  const listing = account.listItems(leaving.signal)
  await asked.promise
  leaving.abort(new Error('left'))
  await assert.rejects(listing, /left/)
})

const random = (bytes: number) => randomBytes(bytes).toString('base64url')

/** Everything that a real token has. */
function wholeToken(seed: Buffer): string {
  return tokenOf({
    signInAddress: 'berth-test.1password.eu',
    userAuth: { method: 'SRPg-4096', alg: 'PBES2g-HS256', iterations: 650_000, salt: random(16) },
    email: 'nobody@1passwordserviceaccounts.com',
    srpX: randomBytes(32).toString('hex'),
    muk: { alg: 'A256GCM', ext: true, k: random(32), key_ops: ['encrypt', 'decrypt'], kty: 'oct', kid: 'mp' },
    secretKey: 'A3-C4ZJMN-PQTZTL-HGL84-G64M7-KVZRN-4ZVP6',
    throttleSecret: { seed: seed.toString('hex'), uuid: 'A'.repeat(26) },
    deviceUuid: 'a'.repeat(26),
  })
}

test("1Password's SDK reads the token, and its errors are told apart", async () => {
  await assert.rejects(new ServiceAccount({ token: TOKEN }).listVaults(signal), {
    name: 'SourceFailure',
    message: /^the token is cut or malformed/,
  })
  // Whether there is a network here or not.
  await assert.rejects(new ServiceAccount({ token: wholeToken(randomBytes(32)) }).listVaults(signal), {
    name: 'SourceFailure',
    message: /servers cannot be reached|refuses the token/,
  })
})

test('a token that makes the SDK panic is refused, and nothing else happens', async () => {
  await assert.rejects(new ServiceAccount({ token: wholeToken(Buffer.alloc(32)) }).listVaults(signal), {
    name: 'SourceFailure',
    message: /its SDK failed; check the token/,
  })
})

test('an error of the SDK is recognised and not repeated', () => {
  const cases: [string, RegExp][] = [
    ['rate limit exceeded', /try again later/],
    ["you don't have the right permissions to access this resource", /may not read this/],
    ['bad service account token, please rotate it: x', /refuses the token; create another/],
    ['request timeout', /too long/],
    ['something secret', /refuses the token of the service account, or cannot be reached/],
  ]
  for (const [message, expected] of cases) {
    assert.match(reasonOf(message), expected)
    assert.ok(!reasonOf(message).includes('secret'))
  }
})

test("uses a token only with 1Password's servers", async () => {
  assert.ok(isServiceToken(TOKEN))
  assert.ok(isServiceToken(tokenOf({ signInAddress: 'https://my.1password.com' })))
  const foreign = [
    tokenOf({ signInAddress: 'evil.example' }),
    tokenOf({ signInAddress: 'evil1password.com' }),
    tokenOf({ signInAddress: 'my.1password.com.evil.example' }),
    tokenOf({ signInAddress: 'http://my.1password.com' }),
    tokenOf({ signInAddress: 'https://my.1password.com:8443' }),
    tokenOf({ signInAddress: 'my.1password.com@evil.example' }),
    tokenOf({ signInAddress: '127.0.0.1' }),
    tokenOf({}),
    'ops_nonsense',
    'ops_',
    'eyJhbGciOi',
  ]
  for (const token of foreign) {
    assert.ok(!isServiceToken(token), token)
    const account = new ServiceAccount({ token })
    await assert.rejects(account.listVaults(signal), /not that of a 1Password service account/)
  }
})
