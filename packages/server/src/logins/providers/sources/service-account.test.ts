// Tests the adapter's interface: a test cannot reach 1Password's cloud, and its SDK is not installed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
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

test('names the missing SDK', async () => {
  const account = new ServiceAccount({ token: TOKEN })
  await assert.rejects(account.listVaults(signal), /need the package @1password\/sdk.*has not installed/)
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
