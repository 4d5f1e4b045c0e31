// When a login uses a stored passkey, and when it does not.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Passkey } from '@berth/contracts/page-snapshot'
import { button, field, link, page, password } from '../../../../tests/fixtures/page-snapshots.ts'
import { play, type Script } from '../../../../tests/fixtures/scripted-pages.ts'
import type { KnownValues, PasskeyNews, PasskeyWishes } from '../run/run.ts'

const key: Passkey = {
  credential_id: 'AAAA',
  rp_id: 'example.com',
  private_key: 'AAAA',
  user_handle: '',
  user_name: '',
  user_display_name: '',
  sign_count: 100,
}
const known: KnownValues = {
  values: { username: 'ada', password: 'tide-table' },
  totp: undefined,
  ssoProvider: undefined,
  hosts: ['www.example.com:443'],
  passkeys: [key],
}
const form = [field({ label: 'Username', name: 'username' }), password(), button('Log in')]
const entrance = () =>
  page({ elements: [...form, button('Sign in with a passkey', { type: 'button', group: 0 })] })
const only = () =>
  page({ text: 'Use your passkey to sign in', elements: [button('Sign in with a passkey', { group: 0 })] })
const signedIn = () =>
  page({
    document: 7,
    url: 'https://www.example.com/home',
    text: 'Inbox',
    elements: [link('Log out', 'https://www.example.com/logout', { group: 0 })],
  })

/** A browser with the key, at a website that accepts it when its control is pressed. */
function atWebsite(first: () => ReturnType<typeof page>, answers: boolean): Script {
  let isIn = false
  let isArmed = false
  let count = key.sign_count
  const script: Script = {
    page: first(),
    visit: () => (isIn ? signedIn() : first()),
    onAct: ({ act, refs }) => {
      const pressed = script.page.elements.find(({ ref }) => ref === refs?.[0])
      if (act === 'click' && /passkey/.test(pressed?.text ?? '') && isArmed && answers) {
        count++
        isIn = true
        script.page = signedIn()
      }
      if (act === 'click' && pressed?.text === 'Log in') {
        isIn = true
        script.page = signedIn()
      }
    },
    passkeys: ({ keys }) => {
      isArmed ||= keys.length > 0
      return isArmed ? [{ ...key, sign_count: count }] : []
    },
  }
  return script
}

function wishes(): { readonly news: PasskeyNews[]; readonly passkeys: PasskeyWishes } {
  const news: PasskeyNews[] = []
  const passkeys: PasskeyWishes = {
    areKept: true,
    hosts: known.hosts,
    isWanted: false,
    onChange: (each) => Promise.resolve(void news.push(each)),
  }
  return { news, passkeys }
}

test('a stored passkey comes before the password, and its use is told', async () => {
  const { news, passkeys } = wishes()
  const { acts, outcome } = await play(atWebsite(entrance, true), { known, isAttended: false, passkeys })
  assert.ok(outcome.isSuccess, JSON.stringify(outcome))
  assert.deepEqual(
    acts.map(({ act }) => act),
    ['click'],
  )
  assert.deepEqual(outcome.requirements, ['passkey'])
  assert.deepEqual(
    news.map(({ made, used }) => [made.length, used[0]?.sign_count]),
    [[0, 101]],
  )
})

test('if it brings nothing, the login goes on with the values', async () => {
  const { acts, outcome } = await play(atWebsite(entrance, false), { known, isAttended: false })
  assert.ok(outcome.isSuccess, JSON.stringify(outcome))
  const [first, next] = acts.map(({ act }) => act)
  assert.deepEqual([first, next, acts.at(-1)?.act], ['click', 'fill', 'click'])
  assert.ok(!outcome.requirements.includes('passkey'))
})

for (const [what, passkeys, hosts] of [
  ['of another relying party', [{ ...key, rp_id: 'example.org' }], known.hosts],
  ['that may not be used at this host', [key], ['login.example.com:443']],
  ['that does not exist', [], known.hosts],
] as const) {
  test(`a page that only takes passkeys gets none ${what}, and the failure says how to add one`, async () => {
    const { acts, outcome } = await play(atWebsite(only, true), {
      known: { ...known, passkeys, hosts },
      isAttended: false,
    })
    assert.ok(!outcome.isSuccess)
    assert.equal(outcome.code, 'unsupported_auth_method')
    assert.match(outcome.message, /create_passkey/)
    assert.deepEqual(acts, [])
  })
}

test('nobody has one made without a person', async () => {
  const offer = page({
    document: 3,
    url: 'https://www.example.com/offer',
    headings: ['Sign in faster with a passkey'],
    text: 'Set up a passkey',
    elements: [button('Create a passkey', { group: 0 }), button('Not now', { group: 0 })],
  })
  const login = page({ elements: form })
  let isIn = false
  const script: Script = {
    page: login,
    visit: () => (isIn ? signedIn() : login),
    onAct: ({ act, refs }) => {
      const pressed = script.page.elements.find(({ ref }) => ref === refs?.[0])
      if (act === 'click' && pressed?.text === 'Log in') script.page = offer
      if (act === 'click' && pressed?.text === 'Not now') {
        isIn = true
        script.page = signedIn()
      }
    },
    passkeys: ({ may_create: mayCreate }) => {
      assert.equal(mayCreate, false)
      return []
    },
  }
  const { passkeys } = wishes()
  const { outcome } = await play(script, {
    known: { ...known, passkeys: [] },
    isAttended: false,
    passkeys,
  })
  assert.ok(outcome.isSuccess, JSON.stringify(outcome))
})
