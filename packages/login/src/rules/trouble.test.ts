// Words about trouble count only where they are about this login.
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

const untouched = (given: GivenPage) => readPage(page(given)).obstacle?.code
/** After a form was submitted on a page with these lines. */
const afterwards = (given: GivenPage, ...linesBefore: string[]) =>
  readPage(page(given), { linesBefore: new Set(linesBefore) }).obstacle?.code

const form = () => [field({ label: 'Username' }), password(), button('Log in')]

const helpTexts = [
  'Your account is locked after five failed attempts.',
  'Nach fünf Fehlversuchen wird Ihr Konto gesperrt.',
  'Après cinq essais, votre compte est bloqué.',
  'Tras cinco intentos la cuenta queda bloqueada.',
  'После пяти попыток учетная запись будет заблокирована.',
  'パスワードを5回間違えるとアカウントがロックされます。',
  '密码错误五次后账户将被锁定。',
  '비밀번호를 5회 틀리면 계정이 잠깁니다. 차단',
  'Too many attempts lead to a pause. Try again later.',
]

test('a help text about locked accounts stops no login', () => {
  for (const text of helpTexts) {
    const elements = form()
    for (const kind of ['alert', 'class', 'red', 'field'] as const)
      assert.equal(untouched({ elements, text, messages: [{ text, kind, group: 1 }] }), undefined, text)
    // It is still there when the password was wrong.
    const wrong = { text: 'Wrong password', kind: 'alert' as const, group: 1 }
    const given = { elements, text, messages: [{ text, kind: 'class' as const, group: 1 }, wrong] }
    const { obstacle, complaints } = readPage(page(given), { linesBefore: new Set([text]) })
    assert.equal(obstacle, undefined, text)
    assert.equal(complaints[0]?.text, 'Wrong password', text)
  }
})

test('the same words in response to a login stop it', () => {
  for (const [text, code] of [
    ['Your account has been locked.', 'account_locked'],
    ['Ihr Konto ist gesperrt.', 'account_locked'],
    ['Votre compte est bloqué.', 'account_locked'],
    ['Учетная запись заблокирована.', 'account_locked'],
    ['アカウントがロックされています。', 'account_locked'],
    ['Too many attempts. Try again later.', 'rate_limited'],
    ['Zu viele Versuche. Bitte versuchen Sie es später erneut.', 'rate_limited'],
  ] as const) {
    const messages = [{ text, kind: 'alert' as const, group: 1 }]
    assert.equal(afterwards({ elements: form(), text, messages }), code, text)
    // On a page of its own, also without highlighting.
    assert.equal(afterwards({ text: `Treasury\n${text}` }, 'Username'), code, text)
  }
})

const notices = [
  'The mirror in Oslo has been deactivated.',
  'Das Zusatzmodul "Karten" wurde deaktiviert.',
  'Le plugin de sauvegarde est désactivé.',
  'El complemento ha sido desactivado.',
  'Il modulo è stato disattivato.',
  'Wtyczka została zablokowana.',
  'Плагин отключен.',
  'プラグインは停止されました。',
  '插件已停用。',
  'Too many connections in the last hour.',
]

const apps = ['Orders', 'Ships', 'Cargo', 'Crew', 'Berths', 'Tides', 'Routes', 'Fees', 'Reports', 'Queue']
const menu = (region: string) =>
  apps.map((text) => link(text, `https://www.example.com/${text}`, { group: 0, region }))

test('a signed-in page may have a notice about something else', () => {
  for (const text of notices) {
    const messages = [{ text, kind: 'alert' as const, group: null }]
    const out = link('Log out', 'https://www.example.com/logout', { group: 0 })
    assert.equal(afterwards({ text, messages, elements: [out] }), undefined, text)
    // The link that logs out may be in a closed menu.
    assert.equal(afterwards({ text, messages, elements: menu('main') }), undefined, text)
    const settings = link('Settings', 'https://www.example.com/settings', { group: 0, region: 'header' })
    assert.equal(afterwards({ text, messages, elements: [settings] }), undefined, text)
  }
})

test('a short page that does not say what it is about leaves the question open', () => {
  for (const text of notices) {
    const { obstacle } = readPage(page({ text: `Harbour\n${text}` }), { linesBefore: new Set() })
    assert.notEqual(obstacle?.isUncertain, false, text)
  }
  const { obstacle } = readPage(page({ text: 'Your account has been locked.' }), { linesBefore: new Set() })
  assert.equal(obstacle?.isUncertain, false)
})

test('an application that speaks of maintenance, walls, keys and notifications is not stopped by them', () => {
  const elements = menu('main')
  for (const given of [
    { headings: ['Maintenance'], text: 'Maintenance\nCrane 4 is under maintenance until noon' },
    { headings: ['Wartung'], text: 'Wartung\nKran 4 ist in Wartung' },
    { text: 'Security check\nThe last security check found nothing' },
    { text: 'Ключи API\nКлюч для терминала' },
    { text: 'Fingerprint readers\nReader 3 has no power' },
    { text: 'Notifications\nBenachrichtigung\nYou have one notification from Oslo' },
  ]) {
    const { obstacle, waiting } = readPage(page({ ...given, elements }), { linesBefore: new Set() })
    assert.equal(obstacle, undefined, given.text)
    assert.equal(waiting, undefined, given.text)
  }
})

test('a link to notifications is nothing to wait for', () => {
  const elements = [link('Notifications', 'https://www.example.com/n', { group: 0 })]
  assert.equal(readPage(page({ text: 'Harbour\nNotifications', elements })).waiting, undefined)
  assert.equal(
    readPage(page({ text: 'We sent a notification to your phone' })).waiting,
    'We sent a notification to your phone',
  )
})
