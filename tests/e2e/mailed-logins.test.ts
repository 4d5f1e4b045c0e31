// Logins with real browsers that need no person: a code and a link from a real IMAP server, and a captcha that an address
// of the user solves.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import type { LoginExplanation, ManagedAuth } from '@berth/contracts/auth-connections'
import { begin, connect, makeDue, reaches, read, timeline } from '../fixtures/auth-connections.ts'
import { MAIL_PASSWORD, startDovecot } from '../fixtures/dovecot.ts'
import { eventually } from '../fixtures/host.ts'
import type { RunningSite } from '../fixtures/login-zoo/kit/running-site.ts'
import { startZoo } from '../fixtures/login-zoo/zoo.ts'
import { startServer } from '../fixtures/server.ts'
import { send } from '../fixtures/sessions.ts'

const owner = { after }
const MAX_MS = 90_000
const secret = `whsec_${Buffer.from('the secret of the signatures!').toString('base64')}`
const dovecot = await startDovecot(owner)
const zoo = await startZoo(owner)
const server = await startServer(owner, {
  hasRealInstances: true,
  env: {
    ...zoo.allow,
    NODE_EXTRA_CA_CERTS: dovecot.caFile,
    BERTH_WARM_HEADFUL: '1',
    BERTH_LOG_LEVEL: 'debug',
  },
})

/** Mails of the site arrive in the mailbox of this name. */
function deliverTo(user: string, site: RunningSite): void {
  site.outbox.onSend = ({ by, to, content }) => {
    if (by !== 'email') return
    const isLink = URL.canParse(content)
    dovecot.deliver(user, {
      from: `Site <no-reply@${site.host}>`,
      to,
      subject: isLink ? 'Your magic link' : 'Your login code',
      ...(isLink
        ? { html: `<p>Hello</p><p><a href="${content}">Log in</a></p>` }
        : { text: `Your temporary login code is ${content}` }),
    })
  }
}

async function newCredential(site: RunningSite, values: object, mailbox: string | undefined) {
  const body = {
    name: `of-${site.name}`,
    domain: site.domain,
    values,
    ...(mailbox !== undefined && {
      mailbox: {
        imap: { host: 'localhost', port: dovecot.tlsPort, user: mailbox, password: MAIL_PASSWORD },
      },
    }),
  }
  const made = await send<{ has_mailbox: boolean }>(server, 'POST', '/credentials', body)
  assert.equal(made.status, 201, JSON.stringify(made.body))
  assert.equal(made.body.has_mailbox, mailbox !== undefined)
  return { name: body.name }
}

async function logIn(id: string): Promise<ManagedAuth> {
  await begin(server, id)
  await eventually(
    'the login has ended',
    async () => (await read(server, id)).flow_status !== 'IN_PROGRESS',
    MAX_MS,
  )
  return read(server, id)
}

async function explained(id: string): Promise<LoginExplanation> {
  const [event] = await timeline(server, id)
  const path = `/auth/connections/${id}/timeline/${event!.id}`
  return (await send<LoginExplanation>(server, 'GET', path)).body
}

for (const [name, requirement] of [
  ['email-code', 'a code'],
  ['magic-link', 'a link'],
] as const) {
  test(`a login that needs ${requirement} by mail is made, and made again, without a person`, async () => {
    const site = zoo.site(name)
    const user = site.user(site.description.users[0]!.key)
    deliverTo(name, site)
    const credential = await newCredential(site, { email: user.email }, name)
    const { id } = await connect(server, site.domain, { credential, allowed_domains: [] })
    const shown = await logIn(id)
    assert.equal(shown.flow_status, 'SUCCESS', JSON.stringify(await explained(id)))
    assert.equal(shown.can_reauth, true, shown.can_reauth_reason)
    const { steps: told } = await explained(id)
    assert.ok(
      told.some(({ has_photo: hasPhoto }) => hasPhoto),
      'before anything is typed, there is a photo',
    )
    const steps = JSON.stringify(told)
    assert.match(steps, /"reason":"mail"/)
    for (const { content } of site.outbox.messages) assert.ok(!steps.includes(content.slice(-12)), content)
    assert.ok(!steps.includes(user.email))
    site.signOut()
    await makeDue(server, id)
    await eventually(
      'it is logged in again',
      async () => {
        const events = await timeline(server, id)
        return events.some(({ type, status }) => type === 'reauth' && status === 'SUCCESS')
      },
      MAX_MS,
    )
  })
}

test('a captcha goes to the solver, with a picture of it, and its text is typed', async () => {
  const asked: { data: Record<string, string> }[] = []
  const solver = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.once('end', () => {
      asked.push(JSON.parse(Buffer.concat(chunks).toString()) as (typeof asked)[number])
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"text":"x7Kq2"}')
    })
  })
  solver.listen(0, '127.0.0.1')
  await once(solver, 'listening')
  after(() => void solver.close())
  const site = zoo.site('captcha-image')
  const user = site.user(site.description.users[0]!.key)
  const credential = await newCredential(
    site,
    { username: user.username, password: user.password },
    undefined,
  )
  const { port } = solver.address() as AddressInfo
  const { id } = await connect(server, site.domain, {
    credential,
    captcha_solver: { url: `http://127.0.0.1:${port}/`, secret },
  })
  const shown = await read(server, id)
  assert.equal((shown as { has_captcha_solver?: boolean }).has_captcha_solver, true)
  await begin(server, id)
  // The site never accepts it; after two tries the person is asked.
  await reaches(server, id, 'AWAITING_EXTERNAL_ACTION', MAX_MS)
  assert.equal(asked.length, 2)
  assert.equal(asked[0]?.data['kind'], 'image')
  assert.match(asked[0]?.data['picture'] ?? '', /^\/9j\//)
  const typed = site.requests.filter(({ method }) => method === 'POST')
  assert.ok(typed.length >= 1)
  await send(server, 'POST', `/auth/connections/${id}/cancel`)
})
