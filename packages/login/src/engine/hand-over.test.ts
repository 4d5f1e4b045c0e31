// What the engine leaves to the person: captchas beside a form, and logins that it does not find.
import assert from 'node:assert/strict'
import test from 'node:test'
import { button, field, link, page, password } from '../../../../tests/fixtures/page-snapshots.ts'
import { play, type Script } from '../../../../tests/fixtures/scripted-pages.ts'

const ANCHOR = 'frame:https://captcha.example/recaptcha/api2/anchor?size=normal'
const form = [
  field({ label: 'Username', name: 'username', has_value: true }),
  password({ has_value: true }),
  button('Log in'),
]
const withCaptcha = () => page({ elements: form, challenges: [ANCHOR] })
const signedIn = () =>
  page({
    document: 7,
    url: 'https://www.example.com/home',
    text: 'Inbox',
    elements: [link('Log out', 'https://www.example.com/logout', { group: 0 })],
  })
const values = { username: 'ada', password: 'tide-table' }
const known = {
  values,
  totp: undefined,
  ssoProvider: undefined,
  hosts: ['www.example.com:443'],
}

test('beside a captcha the fields are asked for and typed; the person solves it and submits in place', async () => {
  let isSolved = false
  const script: Script = {
    page: withCaptcha(),
    visit: () => (isSolved ? signedIn() : withCaptcha()),
    answer: ({ fields }) => (fields.length > 0 ? { values } : undefined),
    onLook() {
      // The person is at it once there is something to do in the browser.
      if (states.length > 0 && states.at(-1) === 'AWAITING_EXTERNAL_ACTION') {
        isSolved = true
        script.page = signedIn()
      }
    },
  }
  const states: string[] = []
  const { acts, questions, outcome } = await play(script, { onState: ({ step }) => states.push(step) })
  assert.deepEqual(
    acts.map(({ act }) => act),
    ['fill', 'fill'],
  )
  assert.deepEqual(
    questions[0]?.fields.map(({ ref }) => ref),
    ['username', 'password'],
  )
  assert.match(questions[1]?.externalAction ?? '', /captcha.*press "Log in"/)
  assert.ok(outcome.isSuccess, JSON.stringify(outcome))
  assert.ok(outcome.requirements.includes('captcha'))
})

test('after the captcha the person may have the form submitted', async () => {
  let isSolved = false
  const script: Script = {
    page: withCaptcha(),
    visit: () => (isSolved ? signedIn() : withCaptcha()),
    answer: ({ fields, choices }) => (fields.length > 0 ? { values } : { choiceId: choices[0]!.id }),
    onAct({ act }) {
      if (act !== 'click') return
      isSolved = true
      script.page = signedIn()
    },
  }
  const { acts, outcome } = await play(script)
  assert.equal(acts.at(-1)?.act, 'click')
  assert.ok(outcome.isSuccess, JSON.stringify(outcome))
})

test('alone, a captcha ends the login before anything is typed', async () => {
  const { acts, outcome } = await play({ page: withCaptcha() }, { isAttended: false, known })
  assert.deepEqual(acts, [])
  assert.equal(!outcome.isSuccess && outcome.code, 'captcha_blocked')
})

const empty = (url: string) =>
  page({ url, title: 'Harbour', text: 'Welcome', elements: [link('Tides', `${url}tides`, { group: 0 })] })

test('a login that is not found is shown by the person', async () => {
  const states: string[] = []
  const asked: string[] = []
  const script: Script = {
    page: empty('https://www.example.com/'),
    visit: (url) => empty(url),
    answer({ fields, externalAction = '' }) {
      asked.push(externalAction)
      if (fields.length > 0) throw new Error('enough')
      script.page = page({ document: 3, url: 'https://www.example.com/hidden/door', elements: form })
      return undefined
    },
  }
  const onState = ({ step }: { step: string }) => void states.push(step)
  await assert.rejects(play(script, { loginUrl: undefined, onState }), /enough/)
  assert.match(asked[0]!, /was not found. Open it in the browser/)
  assert.deepEqual(states, ['DISCOVERING', 'AWAITING_EXTERNAL_ACTION', 'AWAITING_INPUT'])
})

test('alone, a login that is not found ends with the reason and the way on', async () => {
  const script = { page: empty('https://www.example.com/'), visit: (url: string) => empty(url) }
  const { outcome } = await play(script, { isAttended: false, known, loginUrl: undefined })
  assert.ok(!outcome.isSuccess)
  assert.equal(outcome.code, 'login_form_not_found')
  assert.match(outcome.message, /first page is "Harbour", HTTP 200.*login_url.*a person, who can show it/)
})

test('the answer to a form may take as long as the website works on it', async () => {
  const start = page({ elements: form })
  let looks = 0
  const script: Script = {
    page: start,
    visit: () => (looks > 20 ? signedIn() : start),
    onAct({ act }) {
      if (act === 'click') script.page = { ...start, is_quiet: false, is_loading: true }
    },
    onLook() {
      if (script.page.is_loading === true && ++looks > 20) script.page = signedIn()
    },
  }
  const { acts, outcome } = await play(script, { isAttended: false, known })
  assert.ok(outcome.isSuccess, JSON.stringify(outcome))
  assert.equal(acts.filter(({ act }) => act === 'click').length, 1)
})
