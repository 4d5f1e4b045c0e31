// Mailboxes of credentials: a real IMAP server, and an address of the user.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { Webhook } from 'standardwebhooks'
import type { WantedMail } from '@berth/login/run/mailbox'
import { EgressPolicy } from '@berth/server/instances/egress/policy'
import { DirectUpstream } from '@berth/server/instances/egress/upstream'
import { Hooks } from '@berth/server/logins/hooks/hook'
import { Mailboxes } from '@berth/server/logins/mailboxes/mailboxes'
import { CaptchaSolvers } from '@berth/server/logins/solvers/captcha-solvers'
import { Keyring } from '@berth/server/platform/secrets/keyring'
import { SealedBox } from '@berth/server/platform/secrets/sealed-box'
import { MAIL_PASSWORD, startDovecot } from '../fixtures/dovecot.ts'
import { tempDir } from '../fixtures/server.ts'

const owner = { after }
const dovecot = await startDovecot(owner)
const secret = `whsec_${Buffer.from('the secret of the signatures!').toString('base64')}`
const { signal } = new AbortController()

function mailboxesOf(...allow: string[]) {
  const policy = new EgressPolicy({ allow })
  const direct = { policy }
  const hooks = new Hooks({ policy, upstream: new DirectUpstream(direct) })
  return { hooks, mailboxes: new Mailboxes({ policy, direct, hooks }) }
}
const { mailboxes, hooks } = mailboxesOf('127.0.0.0/8')

const imap = (user: string, more: object = {}) => ({
  imap: { host: 'localhost', port: dovecot.tlsPort, user, password: MAIL_PASSWORD, ...more },
})
const open = (request: Parameters<typeof mailboxes.read>[0]) =>
  mailboxes.open(mailboxes.read(request), signal)

const wanted = (more: Partial<WantedMail> = {}): WantedMail => ({
  kind: 'code',
  domain: 'harbour.example',
  allowedDomains: [],
  linkHosts: ['harbour.example', '*.harbour.example'],
  length: undefined,
  isNumeric: false,
  since: new Date(),
  used: [],
  timeoutMs: 20_000,
  ...more,
})

const code = (text: string, from = 'no-reply@harbour.example') => ({
  from: `Harbour <${from}>`,
  to: 'ada@home.example',
  subject: 'Dein Bestätigungscode',
  text: `Dein Bestätigungscode lautet ${text}`,
})

test('over IMAP, without trust in its certificate, nothing is sent, and the reason is said', async () => {
  const mailbox = await open(imap('ada'))
  await assert.rejects(mailbox.wait(wanted(), signal), {
    name: 'MailboxFailed',
    message: /certificate of the server is not valid.*NODE_EXTRA_CA_CERTS/,
  })
  setDefaultCACertificates([...getCACertificates(), dovecot.ca])
})

test('over IMAP, only a mail that arrives after the login began counts, and none is marked as read', async () => {
  dovecot.deliver('bob', code('111111'))
  const mailbox = await open(imap('bob'))
  mailbox.begin()
  // What is there when the login begins is not for it.
  assert.equal(await mailbox.wait(wanted({ timeoutMs: 4_000 }), signal), undefined)
  const found = mailbox.wait(wanted(), signal)
  dovecot.deliver('bob', { ...code('222222'), from: 'Mallory <mallory@evil.example>' })
  dovecot.deliver('bob', code('483920'))
  assert.deepEqual(await found, { kind: 'code', code: '483920' })
  assert.equal(await mailbox.wait(wanted({ used: ['483920'], timeoutMs: 3_000 }), signal), undefined)
  assert.deepEqual(
    dovecot.filesOf('bob').filter((name) => /:2,.*S/.test(name)),
    [],
  )
})

const html = (token: string) => `<p>Hello</p><a href="https://harbour.example/magic/${token}">Sign in</a>`

test('over IMAP with STARTTLS, a link is found, and a mail for somebody else is not', async () => {
  const mailbox = await open(imap('carol', { port: dovecot.plainPort, security: 'starttls' }))
  mailbox.begin()
  const found = mailbox.wait(wanted({ kind: 'link', address: 'carol@home.example' }), signal)
  await assert.doesNotReject(mailbox.wait(wanted({ timeoutMs: 1_000 }), signal))
  dovecot.deliver('carol', { ...code(''), to: 'dan@home.example', html: html('aaaa1111bbbb2222') })
  dovecot.deliver('carol', { ...code(''), to: 'Carol@home.example', html: html('9f8e7d6c5b4a3928') })
  assert.deepEqual(await found, { kind: 'link', url: 'https://harbour.example/magic/9f8e7d6c5b4a3928' })
})

test('over IMAP, every failure has its words, and nothing of the server', async () => {
  const failing: [object, RegExp][] = [
    [{ password: 'wrong' }, /refuses the user name or the password/],
    [{ folder: 'Absent' }, /the folder does not exist/],
    [{ port: 1 }, /the connection failed \(ECONNREFUSED\)|closed|refused/],
  ]
  for (const [more, message] of failing) {
    const mailbox = await open(imap('eve', more))
    await assert.rejects(
      mailbox.wait(wanted(), signal),
      { name: 'MailboxFailed', message },
      JSON.stringify(more),
    )
  }
})

test('a wait ends with its login', async () => {
  const mailbox = await open(imap('frank'))
  const leaving = new AbortController()
  const waiting = mailbox.wait(wanted(), leaving.signal)
  setTimeout(() => leaving.abort(new Error('the login was canceled')), 1_500)
  await assert.rejects(waiting, /the login was canceled/)
})

test('a mailbox in a private network needs its entry, and a public one needs TLS', async () => {
  const closed = mailboxesOf().mailboxes
  assert.throws(
    () => closed.read(imap('ada', { host: '127.0.0.1' })),
    /mailbox\.imap\.host: cannot be reached/,
  )
  assert.throws(
    () => closed.read(imap('ada', { host: 'imap.example.com', security: 'none' })),
    /mailbox\.imap\.security: must be tls or starttls/,
  )
  assert.throws(
    () => closed.read({ http: { url: 'http://hook.example.com/', secret } }),
    /mailbox\.http\.url: must be https/,
  )
  assert.throws(() => closed.read({}), /mailbox: must have either imap or http/)
  assert.throws(() => closed.read({ ...imap('ada'), http: { url: 'https://a.example/', secret } }), /either/)
  // A name that leads to this machine is judged by its address.
  const settings = mailboxesOf('127.0.0.0/8').mailboxes.read(imap('ada', { host: 'localhost' }))
  const mailbox = await closed.open(settings, signal)
  await assert.rejects(mailbox.wait(wanted(), signal), { name: 'MailboxFailed' })
})

interface Asked {
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

/** An address of the user, which answers in this order and checks every signature. */
async function startHook(answers: readonly { status: number; body?: unknown; location?: string }[]) {
  const asked: Asked[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.once('end', () => {
      const text = Buffer.concat(chunks).toString()
      const verified = new Webhook(secret).verify(text, request.headers as Record<string, string>)
      const { status, body, location } = answers[asked.length] ?? { status: 500 }
      asked.push(verified as Asked)
      response.writeHead(status, { 'content-type': 'application/json', ...(location && { location }) })
      response.end(body === undefined ? undefined : JSON.stringify(body))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mails?of=ada`, asked }
}

test('an address of the user is asked until it has the code, with signed requests', async () => {
  const { url, asked } = await startHook([{ status: 204 }, { status: 200, body: { code: ' 483920 ' } }])
  const mailbox = await open({ http: { url, secret }, address: 'ada@home.example' })
  const since = new Date()
  const found = await mailbox.wait(wanted({ since, length: 6, address: 'ada@home.example' }), signal)
  assert.deepEqual(found, { kind: 'code', code: '483920' })
  assert.deepEqual(asked[0], {
    type: 'login.mail_wanted',
    data: {
      kind: 'code',
      domain: 'harbour.example',
      since: since.toISOString(),
      address: 'ada@home.example',
      code_length: 6,
    },
  })
  assert.equal(asked.length, 2)
})

test('an address of the user may answer with the mail, and a link must lead to the login', async () => {
  const mail = await startHook([
    {
      status: 200,
      body: { mail: { from: 'a@harbour.example', subject: 'Code', text: 'Your code is 483920' } },
    },
  ])
  const { http } = { http: { url: mail.url, secret } }
  assert.deepEqual(await (await open({ http })).wait(wanted(), signal), { kind: 'code', code: '483920' })
  const evil = { status: 200, body: { link: 'https://evil.example/magic/9f8e7d6c5b4a3928' } }
  const links = await startHook([evil, evil, evil])
  const mailbox = await open({ http: { url: links.url, secret } })
  await assert.rejects(mailbox.wait(wanted({ kind: 'link' }), signal), {
    name: 'MailboxFailed',
    message: 'its link does not lead to an allowed domain',
  })
})

test('redirects are not followed, and large answers are not read', async () => {
  for (const answer of [
    { status: 302, location: 'http://169.254.169.254/' },
    { status: 200, body: { code: 'x'.repeat(2_000_000) } },
    { status: 500 },
  ]) {
    const { url } = await startHook([answer, answer, answer])
    const mailbox = await open({ http: { url, secret } })
    await assert.rejects(mailbox.wait(wanted(), signal), { name: 'MailboxFailed' })
  }
})

test('a solver of captchas is asked once, by a signed request, and its trouble is none of the login', async () => {
  const box = new SealedBox(await Keyring.open({ dataDir: tempDir(owner), fromSetting: [] }))
  const solvers = new CaptchaSolvers({ box, hooks })
  const { url, asked } = await startHook([
    { status: 200, body: { token: 'the-token' } },
    { status: 200, body: { text: 'x7Kq2' } },
    { status: 204 },
    { status: 200, body: { token: 7 } },
  ])
  const sealed = solvers.seal('connection', { url, secret })
  assert.ok(!sealed.toString('latin1').includes('mails'))
  const troubles: unknown[] = []
  const onTrouble = (error: unknown) => void troubles.push(error)
  const solve = solvers.solverOf({ id: 'connection', sealed_captcha_solver: sealed }, onTrouble)!
  const task = {
    kind: 'recaptcha',
    siteKey: 'key',
    pageUrl: 'https://harbour.example/login',
    picture: 'cGlj',
  } as const
  assert.deepEqual(await solve(task, signal), { token: 'the-token' })
  assert.deepEqual(await solve(task, signal), { text: 'x7Kq2' })
  assert.equal(await solve(task, signal), undefined)
  assert.equal(await solve(task, signal), undefined)
  assert.deepEqual(asked[0], {
    type: 'login.captcha',
    data: { kind: 'recaptcha', page_url: 'https://harbour.example/login', site_key: 'key', picture: 'cGlj' },
  })
  assert.deepEqual(troubles, [])
  // Of another connection, it does not open.
  const other = solvers.solverOf({ id: 'other', sealed_captcha_solver: sealed }, onTrouble)!
  assert.equal(await other(task, signal), undefined)
  assert.equal(troubles.length, 1)
  assert.equal(
    solvers.solverOf({ id: 'none', sealed_captcha_solver: null }, () => {}),
    undefined,
  )
})
