import assert from 'node:assert/strict'
import { test } from 'node:test'
import { button, field, link, page } from '../../../../tests/fixtures/page-snapshots.ts'
import { offersInField, passkeyControlOf, passkeyOfferOf } from './passkeys.ts'

const signIn = [
  'Sign in with a passkey',
  'Passkey',
  'Continue with passkey',
  'Use your security key',
  'Mit Passkey anmelden',
  "Se connecter avec une clé d'accès",
  'Iniciar sesión con una clave de acceso',
  'Войти с помощью Passkey',
  'Face ID, fingerprint or PIN',
]
const others = [
  'Create a passkey',
  'Set up a passkey',
  'What is a passkey?',
  'Learn more about passkeys',
  'Manage passkeys',
  'Use a passkey from another device',
  'Delete passkey',
  'Not now, without passkey',
  'Forgot your passkey?',
  'Passkey hinzufügen',
  'Sign in',
]

for (const text of signIn) {
  test(`"${text}" asks for a passkey`, () => {
    const wanted = button(text)
    assert.equal(passkeyControlOf(page({ elements: [button('Log in'), wanted] })), wanted)
  })
}

for (const text of others) {
  test(`"${text}" does not ask for a passkey`, () => {
    assert.equal(passkeyControlOf(page({ elements: [button(text)] })), undefined)
  })
}

test('hidden controls, disabled ones and those of a footer ask for nothing', () => {
  const elements = [
    button('Sign in with a passkey', { is_visible: false }),
    button('Sign in with a passkey', { is_enabled: false }),
    link('Passkey', 'https://www.example.com/help', { region: 'footer' }),
  ]
  assert.equal(passkeyControlOf(page({ elements })), undefined)
})

test('a field may offer passkeys', () => {
  const offers = ['username webauthn', 'webauthn', 'username', ''].map((autocomplete) =>
    offersInField(page({ elements: [field({ autocomplete })] })),
  )
  assert.deepEqual(offers, [true, true, false, false])
})

test('an offer to make one has a way on without', () => {
  const [create, skip] = [button('Create a passkey'), link('Not now', 'https://www.example.com/')]
  const headings = ['Sign in faster with a passkey']
  assert.deepEqual(passkeyOfferOf(page({ headings, elements: [create, skip] })), { create, skip })
  const onward = button('Continue')
  assert.deepEqual(passkeyOfferOf(page({ headings, elements: [skip, onward] })), { create: onward, skip })
  assert.equal(passkeyOfferOf(page({ headings, elements: [create] })), undefined)
  assert.equal(passkeyOfferOf(page({ headings: ['Welcome'], elements: [create, skip] })), undefined)
})
