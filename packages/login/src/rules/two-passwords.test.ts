// Pages with several passwords: twins, decoys, signing up beside signing in. Only a repeated new password is no login.
import assert from 'node:assert/strict'
import test from 'node:test'
import {
  button,
  element,
  field,
  link,
  page,
  password,
  type GivenPage,
} from '../../../../tests/fixtures/page-snapshots.ts'
import { readPage } from './read-page.ts'

const languages = [
  { user: 'Username', secret: 'Password', log: 'Log in', make: 'Create account' },
  { user: 'Benutzername', secret: 'Passwort', log: 'Anmelden', make: 'Registrieren' },
  { user: 'Identifiant', secret: 'Mot de passe', log: 'Se connecter', make: 'Créer un compte' },
  { user: 'Usuario', secret: 'Contraseña', log: 'Iniciar sesión', make: 'Crear cuenta' },
  { user: 'Имя пользователя', secret: 'Пароль', log: 'Войти', make: 'Регистрация' },
  { user: 'ユーザー名', secret: 'パスワード', log: 'ログイン', make: '新規登録' },
  { user: '用户名', secret: '密码', log: '登录', make: '注册' },
] as const

const formOf = (given: GivenPage) => readPage(page(given)).form
const kinds = (given: GivenPage) => formOf(given)?.fields.map(({ kind }) => kind)
const idOf = (given: GivenPage) =>
  formOf(given)?.fields.find(({ kind }) => kind === 'password')?.elements[0]?.id

const declared = (group: number, id: string, autocomplete: string) => [
  field({ label: 'Email', group }),
  password({ id, autocomplete, group }),
  button('OK', { group }),
]

test('a twin that shows the password in clear is no second password', () => {
  for (const { user, secret, log } of languages) {
    const box = [100, 300, 240, 36]
    const twins = [
      // At the same place, one above the other.
      [
        password({ label: secret, id: 'real', box }),
        password({ label: secret, id: 'twin', name: 'p2', box }),
      ],
      // A clear one with the same label.
      [
        password({ label: secret, id: 'real', box }),
        field({ label: secret, id: 'password-text', name: 'password-text', box: [100, 320, 240, 36] }),
      ],
      // The clear one first, without a label.
      [
        field({ id: 'pwd_clear', name: 'pwd_clear', box: [100, 298, 240, 36] }),
        password({ label: secret, id: 'real', name: 'pwd', box }),
      ],
    ]
    for (const twin of twins) {
      const elements = [field({ label: user }), ...twin, button(log)]
      assert.deepEqual(kinds({ elements }), ['identifier', 'password'], `${secret} ${twin[1]!.name}`)
      assert.equal(idOf({ elements }), 'real')
    }
  }
})

test('decoys that keep browsers from filling in are left alone', () => {
  for (const decoy of [
    { name: 'fakepasswordremembered' },
    { class_name: 'prevent-autofill' },
    { name: 'p0', data: 'aria-hidden=true' },
    { name: 'p0', data: 'tabindex=-1' },
    { name: 'p0', box: [0, 0, 1, 1] },
    { name: 'p0', is_read_only: true },
  ]) {
    const trap = field({ name: 'fakeusernameremembered', data: 'tabindex=-1' })
    const elements = [
      trap,
      password(decoy),
      field({ label: 'Email', id: 'mail' }),
      password({ id: 'real' }),
      button('Sign in'),
    ]
    const form = formOf({ elements })
    assert.deepEqual(
      form?.fields.map(({ kind, elements: [first] }) => `${kind} ${first?.id}`),
      ['identifier mail', 'password real'],
      JSON.stringify(decoy),
    )
  }
})

test('a login may have a second secret', () => {
  const elements = [
    field({ label: 'User ID' }),
    password({ label: 'Password' }),
    password({ label: 'Memorable word', name: 'memorable' }),
    button('Log in'),
  ]
  assert.deepEqual(
    formOf({ elements })?.fields.map(({ kind, ref, inputType }) => `${kind} ${ref} ${inputType}`),
    ['identifier username text', 'password password password', 'text memorable password'],
  )
})

test('of two forms on a page, the one that signs in is used', () => {
  for (const { user, secret, log, make } of languages) {
    const up = (group: number) => [
      field({ label: user, name: 'new_user', group }),
      password({ label: secret, id: 'new', name: 'new_pass', group }),
      button(make, { group }),
    ]
    const down = (group: number) => [
      field({ label: user, group }),
      password({ label: secret, id: 'mine', group }),
      button(log, { group }),
    ]
    const groups = [{}, {}]
    assert.equal(idOf({ groups, elements: [...up(1), ...down(2)] }), 'mine', make)
    assert.equal(idOf({ groups, elements: [...down(1), ...up(2)] }), 'mine', make)
    // All in one form, as some frameworks make it, or in none.
    assert.equal(idOf({ elements: [...up(1), ...down(1)] }), 'mine', make)
    assert.equal(idOf({ elements: [...down(1), ...up(1)] }), 'mine', make)
    assert.equal(idOf({ elements: [...down(0), ...up(0)] }), 'mine', make)
    const { form } = readPage(page({ elements: [...up(1), ...down(1)] }))
    assert.equal(form?.submit?.text, log)
    assert.equal(form.fields.length, 2)
  }
})

test('declared passwords tell two forms without telling words apart', () => {
  const elements = [...declared(1, 'new', 'new-password'), ...declared(2, 'mine', 'current-password')]
  assert.equal(idOf({ groups: [{}, {}], elements }), 'mine')
})

test('a sign-up form with a button to the login is no login', () => {
  for (const { user, secret, log, make } of languages) {
    const elements = [
      field({ label: user }),
      password({ label: secret }),
      password({ label: secret, name: 'password_repeated', box: [100, 900, 240, 36] }),
      button(make),
      element({ tag: 'button', type: 'button', text: log }),
    ]
    assert.equal(formOf({ elements, url: 'https://www.example.com/register' }), undefined, make)
  }
})

test('changing a password is no login', () => {
  const elements = [
    password({ label: 'Password' }),
    password({ label: 'Password again', name: 'again' }),
    button('Save'),
    link('Log out', 'https://www.example.com/logout'),
  ]
  assert.equal(formOf({ elements }), undefined)
})
