// Classes of login pages that the rules misread on collections of pages that others have saved; see docs/staying-logged-in.md.
import assert from 'node:assert/strict'
import test from 'node:test'
import {
  button,
  field,
  link,
  page,
  password,
  type GivenPage,
} from '../../../../tests/fixtures/page-snapshots.ts'
import { readPage } from './read-page.ts'

const formOf = (given: GivenPage) => readPage(page(given)).form
const kinds = (given: GivenPage) => formOf(given)?.fields.map(({ kind }) => kind)

const beforeOk = (...secrets: ReturnType<typeof field>[]) => [
  field({ label: 'User name' }),
  ...secrets,
  button('OK'),
]
const twoFields = () => [
  field({ placeholder: 'Username', name: 'LoginUserName' }),
  password({ placeholder: 'Password', name: 'LoginPassword' }),
]

test('the field before the password is the name, whatever it is called', () => {
  for (const label of ['Domain', 'Shop URL', 'Client number', 'Access code', 'Firma'])
    assert.deepEqual(
      kinds({ elements: [field({ label }), password({ label: 'Password' }), button('Login')] }),
      ['identifier', 'password'],
      label,
    )
})

test('a company beside a name stays a company', () => {
  const elements = [
    field({ label: 'Company ID' }),
    field({ label: 'Username' }),
    password({ label: 'Password' }),
    button('Sign in'),
  ]
  assert.deepEqual(kinds({ elements }), ['text', 'identifier', 'password'])
})

test('a field that takes an e-mail address or a number of a company is the name', () => {
  for (const label of [
    'Email or client number',
    'E-Mail-Adresse oder Firma',
    'Email Address or Domain\\Username',
  ])
    assert.deepEqual(
      kinds({ elements: [field({ label }), password({ label: 'Password' }), button('Log on')] }),
      ['identifier', 'password'],
      label,
    )
})

test('a number of the state is a name', () => {
  for (const label of [
    'CPF/CNPJ',
    'DNI',
    'Codice fiscale',
    'Personnummer',
    'ИНН',
    'T.C. Kimlik No',
    '身份证号',
  ])
    assert.equal(kinds({ elements: [field({ label }), password(), button('OK')] })?.[0], 'identifier', label)
})

test('a PIN beside a name is the password, and alone it is a code', () => {
  const pin = password({ label: 'PIN', name: 'pin', max_length: 4 })
  const name = field({ label: 'Membership number', type: 'tel' })
  assert.deepEqual(kinds({ elements: [name, pin, button('Log in')] }), ['identifier', 'password'])
  assert.deepEqual(kinds({ elements: [pin, button('Continue')] }), ['code'])
  const oneTime = password({ label: 'One-time code', max_length: 6 })
  assert.deepEqual(kinds({ elements: [name, oneTime, button('Log in')] }), ['identifier', 'code'])
})

test('a label around both fields does not make the name a password', () => {
  const elements = [
    field({ label: 'User ID Password', name: 'loginUserName' }),
    password({ name: 'loginPassword' }),
    button('Login'),
  ]
  assert.deepEqual(kinds({ elements }), ['identifier', 'password'])
})

test('a field without a name beside the password is its twin', () => {
  const box = [320, 500, 240, 36]
  const clear = field({ near: 'Password', box: [100, 500, 200, 36] })
  const nameless = password({ name: '', placeholder: 'Contrasenya', box })
  const named = password({ name: 'contrasenya', placeholder: 'Contrasenya', box: [100, 500, 200, 36] })
  assert.deepEqual(kinds({ elements: beforeOk(clear, password({ box })) }), ['identifier', 'password'])
  assert.deepEqual(kinds({ elements: beforeOk(named, nameless) }), ['identifier', 'password'])
})

test('a button for new users beside `Next` does not make a login a sign-up', () => {
  const elements = [field({ label: 'Email address', type: 'email' }), button('Next'), button('Register')]
  const given = { elements, headings: ['Sign in'], title: 'Sign in' }
  assert.deepEqual(kinds(given), ['identifier'])
  assert.equal(
    kinds({ ...given, headings: ['Create your account'], title: 'Create your account' }),
    undefined,
  )
})

test('what people read is surer than the name of the field', () => {
  const elements = [
    field({ label: 'Email address or username', name: 'userprofiling.value.login' }),
    field({ label: 'Password', name: 'userprofiling.value.password' }),
    button('SIGN IN'),
  ]
  assert.deepEqual(kinds({ elements }), ['identifier', 'password'])
})

test('a whole page in one form: what stands before the login is not part of it', () => {
  const elements = [
    field({ label: 'Birthday', name: 'birthday' }),
    field({ placeholder: 'Join our newsletter', name: 'newsletter' }),
    button('Get my results'),
    field({ label: 'Username:' }),
    password({ label: 'Password:' }),
    link('Login', 'javascript:__doPostBack()'),
  ]
  assert.deepEqual(kinds({ elements }), ['identifier', 'password'])
})

test('two logins in one form, with fields of the same names', () => {
  const elements = [...twoFields(), ...twoFields(), button('Sign in and continue')]
  assert.deepEqual(kinds({ elements }), ['identifier', 'password'])
})

test('a new password is none of a login, in more languages', () => {
  for (const [name, secret, make] of [
    ['Όνομα', 'Κωδικός', 'Εγγραφή'],
    ['Vezetéknév', 'Jelszó', 'Regisztráció'],
    ['Email', 'Mật khẩu', 'Đăng ký'],
    ['ایمیل', 'رمز عبور', 'ثبت نام'],
    ['Email', 'Create a password', 'Continue'],
  ] as const) {
    const elements = [field({ label: name }), password({ label: secret }), button(make)]
    assert.notEqual(formOf({ elements })?.kind, 'login', secret)
  }
})

test('logins in more languages', () => {
  for (const [name, secret, log] of [
    ['Όνομα χρήστη', 'Κωδικός', 'Είσοδος'],
    ['Felhasználónév', 'Jelszó', 'Bejelentkezés'],
    ['Tên đăng nhập', 'Mật khẩu', 'Đăng nhập'],
    ['نام کاربری', 'رمز عبور', 'ورود'],
    ['ชื่อผู้ใช้', 'รหัสผ่าน', 'เข้าสู่ระบบ'],
    ['Korisničko ime', 'Lozinka', 'Prijava'],
    ['Vartotojo vardas', 'Slaptažodis', 'Prisijungti'],
    ['Nume de utilizator', 'Parola', 'Conectare'],
    ['Nama pengguna', 'Kata sandi', 'Masuk'],
    ['İstifadəçi adı', 'Şifrə', 'Daxil ol'],
  ] as const) {
    const elements = [field({ label: name }), field({ label: secret }), button(log)]
    assert.deepEqual(kinds({ elements }), ['identifier', 'password'], secret)
  }
})
