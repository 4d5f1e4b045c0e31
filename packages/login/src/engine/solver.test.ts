// Captchas that a solver answers, and what happens without an answer.
import assert from 'node:assert/strict'
import test from 'node:test'
import { button, field, link, page, password } from '../../../../tests/fixtures/page-snapshots.ts'
import { play, type Script } from '../../../../tests/fixtures/scripted-pages.ts'
import type { CaptchaAnswer, CaptchaTask } from '../run/captcha.ts'

const ANCHOR = 'frame:https://captcha.example/recaptcha/api2/anchor?k=6LeKeyOfTheSite&size=normal'
const values = { username: 'ada', password: 'tide-table' }
const known = { values, totp: undefined, ssoProvider: undefined, hosts: ['www.example.com:443'] }
const form = () => [
  field({ label: 'Username', name: 'username', has_value: true }),
  password({ has_value: true }),
  button('Log in'),
]
const withWidget = () =>
  page({ url: 'https://www.example.com/login?next=1', elements: form(), challenges: [ANCHOR] })
const signedIn = () =>
  page({
    document: 7,
    url: 'https://www.example.com/home',
    text: 'Inbox',
    elements: [link('Log out', 'https://www.example.com/logout', { group: 0 })],
  })

async function solved(
  start: ReturnType<typeof page>,
  answers: (CaptchaAnswer | undefined)[],
  isAttended = false,
) {
  const tasks: CaptchaTask[] = []
  const script: Script = {
    page: start,
    visit: (_url, isAside) => (isAside ? signedIn() : script.page),
    photo: () => ({ jpeg: 'cGljdHVyZQ==' }),
    onAct({ act }) {
      if (act === 'click') script.page = signedIn()
    },
    answer: () => {
      throw new Error('the person is asked')
    },
  }
  const played = await play(script, {
    known,
    isAttended,
    solveCaptcha: async (task) => {
      tasks.push(task)
      return answers[tasks.length - 1]
    },
  })
  return { ...played, tasks }
}

test('a token goes into the page, and the form is submitted', async () => {
  const { acts, outcome, tasks } = await solved(withWidget(), [{ token: 'the-token' }])
  assert.deepEqual(tasks, [
    {
      kind: 'recaptcha',
      siteKey: '6LeKeyOfTheSite',
      pageUrl: 'https://www.example.com/login',
      picture: undefined,
    },
  ])
  assert.deepEqual(
    acts.map(({ act, value }) => [act, value]),
    [
      ['fill', 'ada'],
      ['fill', 'tide-table'],
      ['solve', 'the-token'],
      ['click', undefined],
    ],
  )
  assert.ok(outcome.isSuccess, JSON.stringify(outcome))
  assert.ok(outcome.requirements.includes('captcha'))
})

test('of an image, the solver gets a picture, and its text is typed', async () => {
  const start = page({
    elements: [
      field({ label: 'Username', name: 'username', has_value: true }),
      password({ has_value: true }),
      field({ label: 'Type the characters in the image', name: 'captcha' }),
      button('Log in'),
    ],
  })
  const { acts, outcome, tasks } = await solved(start, [{ text: 'tide7' }])
  assert.equal(tasks[0]?.kind, 'image')
  assert.equal(tasks[0].picture, 'cGljdHVyZQ==')
  assert.deepEqual(
    acts.map(({ value }) => value).filter((value) => value === 'tide7'),
    ['tide7'],
  )
  assert.ok(outcome.isSuccess, JSON.stringify(outcome))
})

test('without an answer a login alone is blocked, and a person is asked', async () => {
  const { outcome, acts } = await solved(withWidget(), [undefined])
  assert.equal(!outcome.isSuccess && outcome.code, 'captcha_blocked')
  assert.ok(!acts.some(({ act }) => act === 'click'))
  await assert.rejects(solved(withWidget(), [undefined], true), /the person is asked/)
})

const imagePage = (document: number, text = '') =>
  page({
    document,
    text,
    elements: [
      field({ label: 'Username', name: 'username', has_value: true }),
      password({ has_value: true }),
      field({ label: 'Type the characters you see', name: 'captcha' }),
      button('Log in'),
    ],
    messages: text ? [{ text, kind: 'alert', group: 1 }] : [],
  })

const withWrongAnswers = async (isAttended: boolean) => {
  let document = 1
  let asked = 0
  const script: Script = {
    page: imagePage(document),
    onAct({ act }) {
      if (act === 'click') script.page = imagePage(++document, 'The characters do not match the picture.')
    },
    answer: ({ externalAction }) => {
      throw new Error(externalAction ?? 'asked for values')
    },
  }
  const solveCaptcha = () => Promise.resolve({ text: `wrong${++asked}` })
  const played = await play(script, { known, isAttended, solveCaptcha })
  return { ...played, asked }
}

test('a wrong answer is not a wrong password: there is another try, and then the person or the end', async () => {
  const { outcome, asked } = await withWrongAnswers(false)
  assert.equal(!outcome.isSuccess && outcome.code, 'captcha_blocked')
  assert.equal(asked, 2)
  await assert.rejects(withWrongAnswers(true), /Solve it in the browser/)
})
