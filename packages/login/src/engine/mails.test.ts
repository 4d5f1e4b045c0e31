// What the engine does with a mailbox: codes and links that a website sends by mail.
import assert from 'node:assert/strict'
import test from 'node:test'
import { button, field, link, page, password } from '../../../../tests/fixtures/page-snapshots.ts'
import { play, type Script } from '../../../../tests/fixtures/scripted-pages.ts'
import { MailboxFailed, type FoundInMail, type Mailbox, type WantedMail } from '../run/mailbox.ts'
import type { KnownValues } from '../run/run.ts'

const values = { username: 'ada@home.example', password: 'tide-table-7' }
const hosts = ['www.example.com:443']

function known(
  answers: readonly (FoundInMail | Error | undefined)[],
  given: Record<string, string> = values,
): { known: KnownValues; asked: WantedMail[] } {
  const asked: WantedMail[] = []
  const mailbox: Mailbox = {
    begin: () => {},
    wait: async (wanted) => {
      asked.push(wanted)
      const answer = answers[asked.length - 1]
      if (answer instanceof Error) throw answer
      return answer
    },
  }
  return { known: { values: given, totp: undefined, mailbox, ssoProvider: undefined, hosts }, asked }
}

const start = () =>
  page({
    elements: [
      field({ label: 'Email', name: 'email', type: 'email', has_value: true }),
      password({ has_value: true }),
      button('Log in'),
    ],
  })
const codePage = (document = 2, messages: Parameters<typeof page>[0]['messages'] = []) =>
  page({
    document,
    url: 'https://www.example.com/code',
    text: 'We emailed you a verification code. Check your inbox.',
    elements: [field({ label: 'Verification code', name: 'code', max_length: 6 }), button('Verify')],
    messages,
  })
const signedIn = () =>
  page({
    document: 9,
    url: 'https://www.example.com/home',
    text: 'Inbox',
    elements: [link('Log out', 'https://www.example.com/logout', { group: 0 })],
  })

test('alone, a login takes the code from the mailbox', async () => {
  const { known: given, asked } = known([{ kind: 'code', code: '483920' }])
  const script: Script = {
    page: start(),
    visit: (_url, isAside) => (isAside ? signedIn() : script.page),
    onAct({ act, value }) {
      if (act === 'click') script.page = codePage()
      if (act === 'fill' && value === '483920') script.page = signedIn()
    },
  }
  const { outcome } = await play(script, { known: given, isAttended: false })
  assert.ok(outcome.isSuccess, JSON.stringify(outcome))
  assert.deepEqual(outcome.requirements, ['identifier', 'password', 'email_code'])
  assert.equal(asked.length, 1)
  assert.equal(asked[0]?.length, 6)
  assert.ok(Date.now() - asked[0].since.getTime() < 20_000)
  assert.ok(!JSON.stringify(outcome).includes('483920'))
})

test('a refused code is followed by that of another mail, and is not taken again', async () => {
  const { known: given, asked } = known([
    { kind: 'code', code: '111111' },
    { kind: 'code', code: '483920' },
  ])
  const script: Script = {
    page: codePage(1),
    visit: (_url, isAside) => (isAside ? signedIn() : script.page),
    onAct({ act, value }) {
      if (act === 'fill' && value === '111111')
        script.page = codePage(3, [{ text: 'That code is not correct', kind: 'alert', group: 1 }])
      if (act === 'fill' && value === '483920') script.page = signedIn()
    },
  }
  const { outcome } = await play(script, { known: given, isAttended: false })
  assert.ok(outcome.isSuccess, JSON.stringify(outcome))
  assert.deepEqual(asked[1]?.used, ['111111'])
})

test('without a mail, a login alone says what it waited for, and a person is asked', async () => {
  const alone = known([undefined])
  const { outcome } = await play({ page: codePage() }, { known: alone.known, isAttended: false })
  assert.ok(!outcome.isSuccess)
  assert.equal(outcome.code, 'email_code_required')
  assert.match(outcome.message, /no mail with it came to the mailbox within 150 seconds/)
  const broken = known([new MailboxFailed('the server refuses the user name or the password')])
  const failed = await play({ page: codePage() }, { known: broken.known, isAttended: false })
  assert.match(
    !failed.outcome.isSuccess ? failed.outcome.message : '',
    /^Cannot read a code from the mailbox: the server refuses/,
  )
  const attended = known([undefined])
  const labels: string[] = []
  const answer: Script['answer'] = ({ fields }) => {
    labels.push(...fields.map(({ label }) => label))
    throw new Error('enough')
  }
  await assert.rejects(play({ page: codePage(), answer }, { known: attended.known }), /enough/)
  assert.deepEqual(labels, ['Verification code'])
})

test('a link by mail is opened in the browser of the login', async () => {
  const url = 'https://www.example.com/auth/magic?token=9f8e7d6c5b4a3928'
  const { known: given, asked } = known([{ kind: 'link', url }], { username: 'ada@home.example' })
  const script: Script = {
    page: page({
      elements: [
        field({ label: 'Email', name: 'email', type: 'email', has_value: true }),
        button('Email me a login link'),
      ],
    }),
    visit: (visited, isAside) =>
      visited === url || isAside || visited.endsWith('/home') ? signedIn() : script.page,
    onAct({ act }) {
      if (act === 'click')
        script.page = page({
          document: 2,
          url: 'https://www.example.com/sent',
          text: 'Check your email\nWe sent you a link to sign in. Click the link in the email.',
          elements: [],
        })
    },
  }
  const { outcome, visited } = await play(script, { known: given, isAttended: false })
  assert.ok(outcome.isSuccess, JSON.stringify(outcome))
  assert.ok(visited.includes(url))
  assert.ok(outcome.requirements.includes('email_link'))
  assert.equal(asked[0]?.kind, 'link')
  assert.ok(asked[0].linkHosts.some((host) => host.includes('example.com')))
})

test('a code is not typed where the credential is not allowed', async () => {
  const { known: given, asked } = known([{ kind: 'code', code: '483920' }])
  const elsewhere = { ...given, hosts: ['other.example:443'] }
  const { outcome } = await play({ page: codePage() }, { known: elsewhere, isAttended: false })
  assert.ok(!outcome.isSuccess)
  assert.equal(asked.length, 0)
})
