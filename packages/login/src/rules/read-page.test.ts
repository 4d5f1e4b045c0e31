import assert from 'node:assert/strict'
import test from 'node:test'
import { button, element, field, link, page, password } from '../../../../tests/fixtures/page-snapshots.ts'
import { readPage } from './read-page.ts'

const kinds = (snapshot: Parameters<typeof readPage>[0]) =>
  readPage(snapshot).form?.fields.map(({ kind, ref }) => `${kind} ${ref}`)

const source = (text: string) =>
  readPage(
    page({ text, elements: [field({ label: 'Code', name: 'code', max_length: 6 }), button('Verify')] }),
  ).form?.fields[0]?.mfaType

const complain = (text: string) =>
  readPage(
    page({
      elements: [field({ label: 'Username' }), password(), button('Log in')],
      messages: [{ text, kind: 'alert', group: 1 }],
    }),
    { linesBefore: new Set() },
  )

const codes = (snapshot: Parameters<typeof page>[0]) => readPage(page(snapshot)).obstacle?.code

test('readPage finds the login form and its button in twenty languages', () => {
  const languages: [string, string, string][] = [
    ['Username', 'Password', 'Log in'],
    ['Benutzername', 'Kennwort', 'Anmelden'],
    ['Identifiant', 'Mot de passe', 'Se connecter'],
    ['Usuario', 'Contraseña', 'Iniciar sesión'],
    ['Nome utente', 'Parola d’ordine', 'Accedi'],
    ['Utilizador', 'Palavra-passe', 'Entrar'],
    ['Gebruikersnaam', 'Wachtwoord', 'Inloggen'],
    ['Användarnamn', 'Lösenord', 'Logga in'],
    ['Brugernavn', 'Adgangskode', 'Log ind'],
    ['Brukernavn', 'Passord', 'Logg inn'],
    ['Käyttäjätunnus', 'Salasana', 'Kirjaudu sisään'],
    ['Nazwa użytkownika', 'Hasło', 'Zaloguj się'],
    ['Uživatelské jméno', 'Heslo', 'Přihlásit se'],
    ['Имя пользователя', 'Пароль', 'Войти'],
    ['Користувач', 'Пароль', 'Увійти'],
    ['Kullanıcı adı', 'Şifre', 'Giriş yap'],
    ['ユーザー名', 'パスワード', 'ログイン'],
    ['用户名', '密码', '登　录'],
    ['아이디', '비밀번호', '로그인'],
  ]
  for (const [user, secret, action] of languages) {
    const submit = button(action)
    const { form } = readPage(
      page({
        elements: [
          field({ label: user, name: 'f1' }),
          field({ label: secret, name: 'f2', type: 'password' }),
          button('?', { type: 'button', label: 'Help' }),
          submit,
        ],
      }),
    )
    assert.deepEqual(
      form?.fields.map(({ kind }) => kind),
      ['identifier', 'password'],
      user,
    )
    assert.equal(form?.submit?.ref, submit.ref, action)
  }
})

test('a sign-up form, a newsletter and a search are not logins', () => {
  const signUp = page({
    url: 'https://www.example.com/',
    elements: [field({ label: 'Email' }), password(), button('Create account')],
  })
  assert.equal(readPage(signUp).form, undefined)
  const newPassword = page({
    elements: [password({ label: 'New password' }), password({ label: 'Repeat it' }), button('Save')],
  })
  assert.equal(readPage(newPassword).form, undefined)
  const newsletter = page({
    url: 'https://www.example.com/',
    elements: [field({ label: 'Your email', name: 'newsletter' }), button('Subscribe')],
    groups: [{ region: 'footer' }],
  })
  assert.equal(readPage(newsletter).form, undefined)
  const search = page({ elements: [field({ name: 'q', region: 'search' }), button('Go')] })
  assert.equal(readPage(search).form, undefined)
})

test('a password reset form is not the first step of a login', () => {
  const reset = page({
    url: 'https://www.example.com/forgot',
    headings: ['Reset your password'],
    elements: [field({ label: 'Email', type: 'email' }), button('Send reset link')],
    groups: [{ heading: 'Reset your password' }],
  })
  assert.equal(readPage(reset).form, undefined)
})

test('readPage picks the login form next to a sign-up form', () => {
  const snapshot = page({
    elements: [
      field({ label: 'Email', group: 1 }),
      password({ group: 1 }),
      button('Sign up', { group: 1 }),
      field({ label: 'Email', group: 2, id: 'mine' }),
      password({ group: 2 }),
      button('Sign in', { group: 2 }),
    ],
    groups: [{ heading: 'Register' }, { heading: 'Sign in' }],
  })
  assert.equal(readPage(snapshot).form?.fields[0]?.elements[0]?.id, 'mine')
})

test('six boxes with one character each are one code field', () => {
  const boxes = Array.from({ length: 6 }, (_, index) =>
    field({
      type: 'tel',
      max_length: 1,
      box: [100 + index * 50, 300, 40, 40],
      near: 'Code from your authenticator app',
    }),
  )
  const { form } = readPage(page({ elements: [...boxes, button('Verify')] }))
  assert.equal(form?.kind, 'code')
  assert.equal(form.fields.length, 1)
  assert.equal(form.fields[0]?.elements.length, 6)
  assert.equal(form.fields[0]?.mfaType, 'totp')
})

test('the surrounding words tell how the user gets a code', () => {
  assert.equal(source('Enter the code from your authenticator app.'), 'totp')
  assert.equal(source('We sent a text message with a code to +•• ••• ••92.'), 'sms')
  assert.equal(source('We emailed a code to a•••@example.com. Check your inbox.'), 'email')
  assert.equal(source('Geben Sie den Code aus Ihrer Authenticator-App ein.'), 'totp')
})

test('buttons that cancel, deny or lead away never submit a form', () => {
  for (const hostile of [
    'Delete my account',
    'Deny',
    'Sign up',
    'Forgot password?',
    'Cancel',
    'Log out',
    'Löschen',
    '削除',
    'Удалить',
  ]) {
    const { form, confirm } = readPage(
      page({ elements: [field({ label: 'Username' }), password(), button(hostile)] }),
    )
    assert.notEqual(form?.submit?.text, hostile)
    assert.equal(confirm, undefined)
    const consent = readPage(
      page({
        url: 'https://www.example.com/oauth/authorize',
        text: `Harbour wants to access your account\n${hostile}`,
        elements: [button(hostile, { class_name: 'primary', box: [0, 0, 600, 90] }), button('Deny')],
      }),
    )
    assert.equal(consent.confirm, undefined, hostile)
  }
})

test('a consent page is confirmed, even if the deny button is larger', () => {
  const { confirm } = readPage(
    page({
      url: 'https://id.example.com/oauth/authorize',
      text: 'Harbour wants to access your account',
      elements: [button('Deny', { box: [0, 0, 600, 90] }), button('Allow')],
    }),
  )
  assert.equal(confirm?.button.text, 'Allow')
})

test('provider buttons are choices, links to provider pages in the footer are not', () => {
  const snapshot = page({
    elements: [
      field({ label: 'Email', type: 'email' }),
      password(),
      button('Log in'),
      button('Continue with Google', { type: 'button' }),
      link('', 'https://www.example.com/oauth/github', { icon: 'github.svg' }),
      link('Facebook', 'https://www.facebook.com/harbour', { region: 'footer', group: 0 }),
      button('Sign up with Apple', { type: 'button' }),
    ],
  })
  const { choices, form } = readPage(snapshot)
  assert.deepEqual(
    choices.map(({ kind, provider }) => `${kind} ${provider}`),
    ['sso_provider google', 'sso_provider github'],
  )
  assert.equal(form?.submit?.text, 'Log in')
})

test('readPage tells a wrong password, a wrong name, a lock and a rate limit apart', () => {
  assert.equal(complain('The password is incorrect.').complaints[0]?.about, 'password')
  assert.equal(complain('We couldn’t find an account with that name.').complaints[0]?.about, 'identifier')
  assert.equal(complain('Wrong username or password').complaints[0]?.about, 'any')
  assert.equal(complain('Your account has been locked.').obstacle?.code, 'account_locked')
  assert.equal(complain('Too many attempts. Try again later.').obstacle?.code, 'rate_limited')
  assert.equal(complain('Ihr Konto ist gesperrt.').obstacle?.code, 'account_locked')
  assert.equal(complain('Welcome back!').complaints.length, 0)
})

test('an error of the website is not a rejected password', () => {
  assert.equal(codes({ status: 503, text: 'Down for maintenance' }), 'website_error')
  assert.equal(codes({ status: 429, text: 'Slow down' }), 'rate_limited')
  assert.equal(codes({ status: 403, text: 'Access denied. You have been blocked.' }), 'bot_detected')
  assert.equal(codes({ headers: { 'cf-mitigated': 'challenge' }, text: 'Just a moment...' }), 'bot_detected')
  const captcha = [field({ name: 'captcha', label: 'Characters in the image' }), button('Continue')]
  assert.equal(codes({ elements: captcha }), 'captcha_blocked')
  assert.equal(
    codes({ text: 'Use your passkey to sign in', elements: [button('Continue', { group: 0 })] }),
    'unsupported_auth_method',
  )
})

test('a captcha beside the form leaves the form as it is', () => {
  const form = [field({ label: 'Username' }), password()]
  const frame = 'frame:https://www.google.com/recaptcha/api2/anchor?size=normal'
  for (const given of [
    { elements: [...form, field({ name: 'captcha' }), button('Log in')] },
    { elements: [...form, button('Log in')], challenges: [frame] },
    { elements: [field({ label: 'Email' }), button('Log in')], challenges: ['element:div h-captcha'] },
  ]) {
    const { obstacle, hasCaptcha, form: found } = readPage(page(given))
    assert.equal(obstacle, undefined)
    assert.equal(hasCaptcha, true)
    assert.equal(found?.fields[0]?.kind, 'identifier')
    assert.ok(found.fields.every(({ kind }) => kind !== 'text'))
  }
  const out = link('Log out', 'https://www.example.com/logout', { group: 0 })
  assert.equal(readPage(page({ elements: [out], challenges: [frame] })).hasCaptcha, false)
})

test('an invisible captcha with a badge asks for nothing', () => {
  const { hasCaptcha } = readPage(
    page({
      elements: [field({ label: 'Username' }), password(), button('Log in')],
      challenges: ['script:https://www.google.com/recaptcha/api.js', 'element:div grecaptcha-badge'],
    }),
  )
  assert.equal(hasCaptcha, false)
})

test('hidden fields are ignored', () => {
  const hidden = password({ is_visible: false })
  const snapshot = page({
    elements: [
      field({ label: 'Email', autocomplete: 'username' }),
      hidden,
      field({ name: 'website', is_visible: false }),
      button('Next'),
    ],
  })
  assert.deepEqual(kinds(snapshot), ['identifier email'])
})

test('an email field on a signed-in page is not a login', () => {
  const snapshot = page({
    text: 'Invite somebody',
    elements: [
      field({ label: 'Email' }),
      button('Send'),
      link('Log out', 'https://www.example.com/logout', { group: 0 }),
    ],
  })
  const { form, signs } = readPage(snapshot)
  assert.equal(form, undefined)
  assert.equal(signs.isSignedIn, true)
})

test('a list of accounts becomes account choices', () => {
  const items = ['Ada ada@example.com', 'Work ada@work.example'].map((text) =>
    element({ tag: 'other', role: 'link', text, group: 0 }),
  )
  const { choices } = readPage(
    page({ headings: ['Choose an account'], text: 'Choose an account', elements: items }),
  )
  assert.deepEqual(
    choices.map(({ kind }) => kind),
    ['account', 'account'],
  )
})

test('second factors to choose from have their type', () => {
  const ways = [
    'Text message to •••92',
    'Authenticator app',
    'Email a•••@example.com',
    'Call me',
    'Try another way',
  ]
  const { choices } = readPage(
    page({
      headings: ['Verify it’s you'],
      text: 'Choose how to verify it’s you',
      elements: ways.map((text) => button(text, { type: 'button', group: 0 })),
    }),
  )
  assert.deepEqual(
    choices.map(({ mfaType }) => mfaType),
    ['sms', 'totp', 'email', 'call', 'switch'],
  )
})
