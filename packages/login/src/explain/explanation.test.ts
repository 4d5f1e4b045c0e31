// What a login says about itself, and what it never says.
import assert from 'node:assert/strict'
import test from 'node:test'
import { button, field, link, page, password } from '../../../../tests/fixtures/page-snapshots.ts'
import { play, type Script } from '../../../../tests/fixtures/scripted-pages.ts'
import type { ExplainedStep } from '../run/step.ts'
import { drawingOf } from './drawing.ts'
import { maskAddress, maskSnapshot, maskText } from './masking.ts'

const values = { username: 'ada-lovelace', password: 'tide-table-7' }
const known = { values, totp: undefined, ssoProvider: undefined, hosts: ['www.example.com:443'] }
const form = () => [
  field({ label: 'Username', name: 'username', has_value: true }),
  password({ has_value: true }),
  button('Log in'),
]
const signedIn = () =>
  page({
    document: 7,
    url: 'https://www.example.com/home/9f8e7d6c5b4a39281706',
    title: 'Mail of Ada',
    text: 'Inbox\nA letter from Charles',
    elements: [
      link('Log out', 'https://www.example.com/logout?token=abc', { group: 0 }),
      link('A letter from Charles', 'https://www.example.com/mail/1', { group: 0 }),
    ],
  })

async function explained(script: Script, options: Parameters<typeof play>[1] = {}) {
  const steps: ExplainedStep[] = []
  const onStep = (step: ExplainedStep) => void (steps[step.index] = step)
  const { outcome } = await play(script, { onStep, ...options })
  return { steps, outcome }
}

test('a login tells what it saw, why it acted and what it did', async () => {
  const script: Script = {
    page: page({ title: 'Harbour', elements: form() }),
    visit: (_url, isAside) => (isAside ? signedIn() : script.page),
    onAct({ act }) {
      if (act === 'click') script.page = signedIn()
    },
  }
  const { steps, outcome } = await explained(script, { known, isAttended: false })
  assert.ok(outcome.isSuccess, JSON.stringify(outcome))
  const [searched, filled, checked] = steps
  assert.equal(searched?.reason, 'find_login')
  assert.deepEqual(searched.did, ['opened https://www.example.com/'])
  assert.equal(filled?.reason, 'fill')
  assert.match(filled.saw, /^"Harbour": a form of kind "login" with "Username" \(identifier\).*"Log in"/)
  assert.deepEqual(filled.did, [
    'typed a value into "Username"',
    'typed a value into "password"',
    'clicked "Log in"',
  ])
  assert.equal(filled.read?.form?.fields.join(), 'identifier username,password password')
  assert.equal(checked?.reason, 'check_success')
  assert.match(checked.did.join('\n'), /in another tab\nfound that the login succeeded/)
})

test('no step contains a typed value, or what a page shows behind the login', async () => {
  const start = page({
    url: 'https://www.example.com/login?session=5e55107',
    text: 'Welcome back, ada-lovelace\nWe wrote to ada@mail.example and call +44 20 7946 0123',
    elements: form(),
  })
  const script: Script = {
    page: start,
    visit: (_url, isAside) => (isAside ? signedIn() : script.page),
    onAct({ act }) {
      if (act === 'click') script.page = signedIn()
    },
    answer: () => ({ values }),
  }
  const { steps, outcome } = await explained(script)
  assert.ok(outcome.isSuccess, JSON.stringify(outcome))
  const asked = steps.find(({ reason }) => reason === 'ask')
  assert.match(asked?.did.join('\n') ?? '', /asked the person for "Username", "password"/)
  const everything = JSON.stringify(steps) + steps.map((step) => drawingOf(step)).join()
  for (const secret of [...Object.values(values), '5e55107', 'Charles', 'ada@mail', '7946', '9f8e7d6c'])
    assert.ok(!everything.includes(secret), secret)
})

test('a failure says where it ended and why', async () => {
  const captcha = page({ elements: form(), challenges: ['frame:https://captcha.example/recaptcha/anchor'] })
  const { steps, outcome } = await explained({ page: captcha }, { known, isAttended: false })
  assert.ok(!outcome.isSuccess)
  const last = steps.at(-1)
  assert.match(last?.saw ?? '', /a captcha/)
  assert.match(last?.did.at(-1) ?? '', /ended the login as captcha_blocked: The website asks/)
  assert.ok(last?.page)
})

const photos = async (text: string) => {
  let count = 0
  const steps: ExplainedStep[] = []
  const script: Script = {
    page: page({ text, elements: form() }),
    photo: () => ({ jpeg: `photo${++count}` }),
    onAct({ act }) {
      if (act === 'click') script.page = page({ document: 2, text: 'Wrong password', elements: form() })
    },
  }
  await play(script, { onStep: (step) => steps.push(step), known, isAttended: false })
  return steps.flatMap(({ photo }) => photo ?? [])
}

test('photos are taken before anything is typed, and not of a page that shows a known value', async () => {
  assert.deepEqual(await photos('Log in'), ['photo1'])
  assert.deepEqual(await photos('Log in again, ada-lovelace'), [])
})

test('masked pages are read like the pages', () => {
  const code = page({
    text: 'Enter the 6-digit code that we sent to ada@mail.example, or call 020 7946 0123',
    elements: [field({ label: 'Code', name: 'otp', max_length: 6 }), button('Verify')],
  })
  const { frames } = maskSnapshot(code, [])
  assert.equal(
    frames[0]?.text,
    'Enter the 6-digit code that we sent to somebody@mail.example, or call 000 0000 0000',
  )
  assert.equal(maskText('Key sk_live_4eC39HqLyjWDarjtT1', []), `Key ${'x'.repeat(24)}`)
})

const masked = (url: string) => maskAddress(url, ['ada'])

test('addresses keep what says which page it is', () => {
  assert.equal(
    masked('https://a.example/login/ada?next=/x&provider=google'),
    'https://a.example/login/•••?next=x&provider=google',
  )
  assert.equal(masked('https://a.example/reset/0a1b2c3d4e5f6071'), 'https://a.example/reset/x')
  assert.equal(masked('https://a.example/#/login?code=1'), 'https://a.example/#/login')
  assert.equal(masked('javascript:steal(1)'), 'javascript:')
})

/** On the drawing, however many elements other tests have made. */
const at = (y: number) => ({ box: [100, y, 240, 36] })

test('a drawing escapes what a page writes, and names what the rules took a control for', () => {
  const hostile = page({
    elements: [
      field({ label: '"><script>alert(1)</script>', ...at(50) }),
      password(at(100)),
      button('Log in & go', at(150)),
    ],
  })
  const svg = drawingOf({ page: hostile, photo: undefined })!
  assert.ok(!svg.includes('<script'))
  assert.match(svg, /Log in &amp; go/)
  assert.match(svg, />identifier<.*>password<.*>submits</s)
})
