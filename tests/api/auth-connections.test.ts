// Connections without a browser: refusals, flow input, access and ends. The sites are fake.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { LoginResponse, ManagedAuth } from '@berth/contracts/auth-connections'
import {
  begin,
  connect,
  follow,
  loggedIn,
  makeDue,
  reaches,
  read,
  submit,
  timeline,
} from '../fixtures/auth-connections.ts'
import { eventually } from '../fixtures/host.ts'
import { startServer } from '../fixtures/server.ts'
import { query, send } from '../fixtures/sessions.ts'

const server = await startServer({ after }, { env: { BERTH_LOG_LEVEL: 'debug' } })
const PATH = '/auth/connections'

const post = (path: string, body?: object) => send<ManagedAuth>(server, 'POST', path, body)

test('domains that are not one host are refused by the name of their field', async () => {
  const refused = [
    '*.com',
    '*.example.com',
    'evil.com@bank.com',
    'https://bank.com',
    'com',
    'p\u0430ypal.com',
    '0x7f.1',
  ]
  for (const domain of refused) {
    const answer = await post(PATH, { domain, profile_name: 'p' })
    assert.equal(answer.status, 400, domain)
    assert.match(answer.body.message!, /domain: must/)
    if (domain === '*.example.com') continue
    const allowed = await post(PATH, {
      domain: 'bank.com',
      profile_name: 'p',
      allowed_domains: ['a.example', domain],
    })
    assert.equal(allowed.status, 400, domain)
    assert.match(allowed.body.message!, /allowed_domains\[1\]: must/)
  }
  // A refused request leaves nothing, not even its profile.
  assert.equal((await send(server, 'GET', '/profiles/p')).status, 404)
})

test('hosts with ports, addresses and names of this machine are valid domains', async () => {
  for (const domain of [
    '127.0.0.1:3000',
    'localhost:8080',
    '[::1]:3000',
    'intranet',
    'login.example.co.uk',
  ]) {
    assert.equal((await connect(server, domain, { domain })).domain, domain)
  }
})

test('invalid settings are refused', async () => {
  const cases: [object, RegExp][] = [
    [{ login_url: 'javascript:alert(1)' }, /login_url: must be an http/],
    [{ login_url: 'https://me:secret@bank.com/' }, /login_url: must not have a user name/],
    [{ health_check_interval: 299 }, /health_check_interval/],
    [{ health_check_interval: 86_401 }, /health_check_interval/],
    [{ credential: { name: 'absent' } }, /credential\.name: is not a credential/],
    [
      { credential: { provider: 'absent', auto: true } },
      /credential\.provider: is not a credential provider/,
    ],
    [{ credential: {} }, /credential: must be one of/],
    [{ proxy: { id: 'absent' } }, /proxy: names no proxy/],
    [{ proxy: { id: 'a', name: 'b' } }, /proxy: must have an id or a name/],
    [{ profile_name: ' ' }, /profile_name: must not be blank/],
    [{ browser_telemetry: { enabled: false, browser: {} } }, /telemetry/],
    [{ unknown: true }, /unknown/],
  ]
  for (const [body, message] of cases) {
    const answer = await post(PATH, { domain: 'bank.com', profile_name: 'refused', ...body })
    assert.equal(answer.status, 400, JSON.stringify(body))
    assert.match(answer.body.message!, message)
  }
})

test('a change affects only the fields it names', async () => {
  const proxy = await post('/proxies', {
    type: 'custom',
    name: 'mine',
    config: { host: 'p.invalid', port: 1 },
  })
  const made = await connect(server, 'change', {
    login_url: 'https://change.example/login',
    allowed_domains: ['a.example'],
    proxy: { name: 'mine' },
  })
  assert.equal(made.proxy_id, proxy.body.id)
  const patch = async (body: object) =>
    (await send<ManagedAuth>(server, 'PATCH', `${PATH}/${made.id}`, body)).body
  const first = await patch({ auto_reauth: false })
  assert.deepEqual({ ...first, auto_reauth: true }, made)
  assert.deepEqual((await patch({ allowed_domains: ['b.example'] })).allowed_domains, ['b.example'])
  assert.equal((await patch({ login_url: '' })).login_url, undefined)
  const inUse = await send(server, 'DELETE', `/proxies/${proxy.body.id}`)
  assert.equal(inUse.status, 400)
  assert.equal(inUse.body.code, 'resource_in_use')
  assert.equal((await patch({ proxy: { id: '' } })).proxy_id, undefined)
  assert.equal((await send(server, 'DELETE', `/proxies/${proxy.body.id}`)).status, 204)
  const taken = await post('/proxies', {
    type: 'custom',
    name: 'twice',
    config: { host: 'p.invalid', port: 1 },
  })
  await post('/proxies', { type: 'custom', name: 'twice', config: { host: 'q.invalid', port: 1 } })
  const ambiguous = await send(server, 'PATCH', `${PATH}/${made.id}`, { proxy: { name: 'twice' } })
  assert.match(ambiguous.body.message!, /proxy\.name: names several/)
  assert.equal((await patch({ proxy: { id: taken.body.id } })).proxy_id, taken.body.id)
})

test('the browser of a connection has the parts of `browser`, and older clients see theirs', async () => {
  const proxy = async (name: string) =>
    (await post('/proxies', { type: 'custom', name, config: { host: 'p.invalid', port: 1 } })).body.id
  const [one, two] = [await proxy('browser-one'), await proxy('browser-two')]
  const plain = await connect(server, 'browser')
  assert.deepEqual(plain.browser, { stealth: true })
  const telemetry = { enabled: true, browser: { console: { enabled: true } } }
  const made = await connect(server, 'browser', {
    browser: { stealth: false, proxy: { name: 'browser-one' }, telemetry },
  })
  assert.deepEqual(made.browser, { stealth: false, proxy: { id: one }, telemetry })
  assert.equal(made.proxy_id, one)
  assert.deepEqual(made.browser_telemetry, telemetry)
  const patch = async (body: object) =>
    (await send<ManagedAuth>(server, 'PATCH', `${PATH}/${made.id}`, body)).body
  // Absent parts stay.
  assert.deepEqual((await patch({ browser: { proxy: { id: two } } })).browser, {
    stealth: false,
    proxy: { id: two },
    telemetry,
  })
  const direct = await patch({ browser: { stealth: true, proxy: { mode: 'direct' } } })
  assert.deepEqual(direct.browser, { stealth: true, proxy: { mode: 'direct' }, telemetry })
  assert.equal(direct.proxy_id, undefined)
  assert.deepEqual((await patch({ proxy: { id: one } })).browser!.proxy, { id: one })
  assert.deepEqual((await patch({ browser: { proxy: { mode: 'default' } } })).browser!.proxy, {
    mode: 'default',
  })
  assert.deepEqual((await patch({ proxy: { id: '' } })).browser, { stealth: true, telemetry })
  assert.deepEqual((await patch({ browser: { telemetry: null } })).browser, { stealth: true })
  const refused: [object, RegExp][] = [
    [{ browser: { proxy: {} } }, /browser\.proxy: must have exactly one of mode, id and name/],
    [{ browser: { proxy: { id: one, mode: 'direct' } } }, /browser\.proxy: must have exactly one/],
    [{ browser: { proxy: { id: 'absent' } } }, /browser\.proxy: names no proxy/],
    [{ browser: { proxy: { mode: 'other' } } }, /mode/],
    [
      { browser: { proxy: { id: one } }, proxy: { id: two } },
      /browser\.proxy: cannot be given together with proxy/,
    ],
    [
      { browser: { telemetry }, browser_telemetry: telemetry },
      /browser\.telemetry: cannot be given together/,
    ],
    [{ browser: { telemetry: { enabled: false, browser: {} } } }, /telemetry/],
  ]
  for (const [body, message] of refused) {
    for (const [method, path] of [
      ['PATCH', `${PATH}/${made.id}`],
      ['POST', `${PATH}/${made.id}/login`],
    ] as const) {
      const answer = await send(server, method, path, body)
      assert.equal(answer.status, 400, JSON.stringify(body))
      assert.match(answer.body.message!, message)
    }
  }
  // A login overrides what it names, for itself.
  await begin(server, made.id, { browser: { proxy: { id: two }, telemetry } })
  const [flow] = await query<{ stealth: boolean; proxy_id: string; telemetry: object }>(
    server,
    'SELECT stealth, proxy_id, telemetry FROM auth_flows WHERE connection_id = $1',
    [made.id],
  )
  assert.deepEqual(flow, { stealth: true, proxy_id: two, telemetry })
  assert.deepEqual((await read(server, made.id)).browser, { stealth: true })
  await post(`${PATH}/${made.id}/cancel`)
})

const toldFields = (state: ManagedAuth) =>
  state.fields!.map(({ id: field, reason, replace_existing, input_mode, hint }) => [
    field,
    reason,
    replace_existing,
    input_mode,
    hint,
  ])

test('a question says why it asks, which keyboard fits, and what a choice does', async () => {
  const { id } = await connect(server, 'code')
  await begin(server, id)
  const first = await reaches(server, id, 'AWAITING_INPUT')
  assert.deepEqual(toldFields(first), [
    ['email', 'missing', false, 'email', undefined],
    ['password', 'missing', false, undefined, undefined],
  ])
  await submit(server, id, { field_values: { email: 'me', password: 'right' } })
  await eventually('the code is asked for', async () => (await read(server, id)).fields?.length === 1)
  const second = await read(server, id)
  assert.deepEqual(toldFields(second), [['code', 'missing', false, 'numeric', 'Sent to •••• 92']])
  assert.notEqual(second.interaction_id, first.interaction_id)
  await post(`${PATH}/${id}/cancel`)

  const choosing = await connect(server, 'choice')
  await begin(server, choosing.id)
  const { choices } = await reaches(server, choosing.id, 'AWAITING_INPUT')
  assert.deepEqual(
    choices!.map(({ id: choice, mfa_type, masked_destination, display_text, context }) => [
      choice,
      mfa_type,
      masked_destination,
      display_text,
      context,
    ]),
    [
      ['google', null, null, 'Continue with Google', null],
      ['text', 'sms', '•••• 92', 'Text message', null],
      ['work', null, null, 'Work account', null],
    ],
  )
  await post(`${PATH}/${choosing.id}/cancel`)
})

test('allowed domains are stored in one spelling', async () => {
  const { allowed_domains } = await connect(server, 'spelled', {
    allowed_domains: ['*.sso.example', 'www.sso.example', 'SSO.example', 'www.github.io'],
  })
  assert.deepEqual(allowed_domains, ['sso.example', 'www.github.io'])
})

test('a profile is renamed with its connection, and cannot be deleted before it', async () => {
  const { id, profile_name } = await connect(server, 'profile')
  const renamed = `${profile_name}-renamed`
  assert.equal((await send(server, 'PATCH', `/profiles/${profile_name}`, { name: renamed })).status, 200)
  assert.equal((await read(server, id)).profile_name, renamed)
  const refused = await send(server, 'DELETE', `/profiles/${renamed}`)
  assert.equal(refused.status, 400)
  assert.equal(refused.body.code, 'resource_in_use')
  assert.equal((await send(server, 'DELETE', `${PATH}/${id}`)).status, 204)
  assert.equal((await send(server, 'DELETE', `/profiles/${renamed}`)).status, 204)
})

test('a connection follows when its credential is renamed, and is unlinked when it is deleted', async () => {
  const credential = { name: 'followed', domain: 'cred.example', values: { email: 'a', password: 'right' } }
  assert.equal((await post('/credentials', credential)).status, 201)
  const { id } = await connect(server, 'cred', { credential: { name: 'followed' } })
  await send(server, 'PATCH', '/credentials/followed', { name: 'renamed' })
  assert.deepEqual((await read(server, id)).credential, { name: 'renamed' })
  await begin(server, id)
  const done = await reaches(server, id, 'SUCCESS')
  assert.equal(done.can_reauth, true)
  await send(server, 'DELETE', '/credentials/renamed')
  const without = await read(server, id)
  assert.equal(without.credential, undefined)
  assert.equal(without.can_reauth_reason, 'no_credential')
})

test('a connection has one flow at a time, until it is canceled or expires', async () => {
  const { id } = await connect(server, 'slow')
  await begin(server, id)
  const second = await post(`${PATH}/${id}/login`, {})
  assert.equal(second.status, 409)
  assert.equal(second.body.code, 'conflict')
  await eventually('it has a browser', async () => Boolean((await read(server, id)).browser_session_id))
  const { browser_session_id: session, live_view_url } = await read(server, id)
  assert.match(live_view_url!, /\/browser\/live\?jwt=/)
  const canceled = await post(`${PATH}/${id}/cancel`)
  assert.equal(canceled.status, 200)
  assert.equal(canceled.body.flow_status, 'CANCELED')
  assert.equal(canceled.body.hosted_url, null)
  assert.equal((await post(`${PATH}/${id}/cancel`)).status, 200)
  await eventually('its session has ended', async () => {
    return (await send(server, 'GET', `/browsers/${session}`)).status === 404
  })
  await begin(server, id)
  await query(
    server,
    "UPDATE auth_flows SET expires_at = now() - interval '1 s', deadline_at = now() - interval '1 s' WHERE connection_id = $1 AND finished_at IS NULL",
    [id],
  )
  await begin(server, id)
  const [newest, stale] = await timeline(server, id)
  assert.equal(newest!.status, 'IN_PROGRESS')
  // Whichever server noticed first.
  assert.match(stale!.status, /^(CANCELED|EXPIRED)$/)
  assert.equal((await send(server, 'DELETE', `${PATH}/${id}`)).status, 204)
  assert.equal((await send(server, 'GET', `${PATH}/${id}`)).status, 404)
  assert.equal((await post(`${PATH}/${id}/login`, {})).status, 404)
  const left = await query(
    server,
    'SELECT id FROM auth_flows WHERE connection_id = $1 AND finished_at IS NULL',
    [id],
  )
  assert.deepEqual(left, [])
})

test('every kind of submission works, and invalid ones are refused', async () => {
  const { id } = await connect(server, 'choice')
  const refuse = async (body: object, status: number, message: RegExp) => {
    const answer = await submit(server, id, body)
    assert.equal(answer.status, status, JSON.stringify([body, answer.body]))
    assert.match(answer.body.message!, message)
  }
  await refuse({ field_values: { email: 'x' } }, 422, /no login is in progress/)
  const again = async () => {
    await post(`${PATH}/${id}/cancel`)
    await begin(server, id)
    return reaches(server, id, 'AWAITING_INPUT')
  }
  const state = await again()
  assert.equal(state.pending_sso_buttons![0]!.selector, '//*[@id="google"]')
  assert.equal(state.mfa_options![0]!.type, 'sms')
  assert.equal(state.mfa_options![0]!.target, '•••• 92')
  assert.deepEqual(state.sign_in_options, [{ id: 'work', label: 'Work account' }])
  await refuse({}, 400, /field_values: must have a value/)
  await refuse({ fields: {} }, 400, /field_values: must have a value/)
  await refuse({ field_values: { absent: 'x' } }, 400, /names a field that is not asked for/)
  await refuse({ field_values: { email: '' } }, 400, /must have a value for "email"/)
  await refuse({ selected_choice_id: 'absent' }, 400, /selected_choice_id: is not one of the current choices/)
  await refuse({ mfa_option_id: 'push' }, 400, /mfa_option_id/)
  await refuse({ sso_provider: 'google', sso_button_selector: '//x' }, 400, /cannot be given together/)
  await refuse({ sso_provider: 'google', field_values: { email: 'x' } }, 400, /cannot be given together/)
  await refuse({ selected_choice_id: 'work', interaction_id: 'earlier' }, 409, /interaction_id is outdated/)
  assert.equal((await read(server, id)).flow_step, 'AWAITING_INPUT')
  const ways: object[] = [
    { selected_choice_id: 'work', interaction_id: state.interaction_id },
    { field_values: { email: 'me@site.example' } },
    { field_values: {}, selected_choice_id: 'google' },
    { fields: { email: 'me@site.example' } },
    { fields: {}, mfa_option_id: 'sms' },
    { fields: {}, mfa_option_id: 'text message' },
    { sign_in_option_id: 'work' },
    { sso_provider: 'Google' },
    { sso_button_selector: '//*[@id="google"]' },
  ]
  for (const [index, way] of ways.entries()) {
    const now = index === 0 ? state : await again()
    const answer = await submit(server, id, way)
    assert.equal(answer.status, 202, JSON.stringify([way, answer.body]))
    assert.deepEqual(answer.body, { accepted: true })
    // The next question is a different one.
    await eventually('the password is asked for', async () => {
      const { interaction_id, fields } = await read(server, id)
      return interaction_id !== now.interaction_id && fields?.length === 2
    })
  }
  await post(`${PATH}/${id}/cancel`)
})

test('a wrong password is asked for again, with the message of the website', async () => {
  const { id } = await connect(server, 'plain')
  await begin(server, id)
  const { interaction_id } = await reaches(server, id, 'AWAITING_INPUT')
  await submit(server, id, { field_values: { email: 'me', password: 'wrong' } })
  await eventually('it asks again', async () => {
    const now = await read(server, id)
    return now.flow_step === 'AWAITING_INPUT' && now.interaction_id !== interaction_id
  })
  assert.equal((await read(server, id)).website_error, 'That is not right')
  await submit(server, id, { field_values: { email: 'me', password: 'right' } })
  assert.equal((await reaches(server, id, 'SUCCESS')).website_error, null)
})

test('a failure has its code, and leaves status and profile unchanged', async () => {
  const { id, profile_name } = await connect(server, 'captcha')
  await begin(server, id)
  const failed = await reaches(server, id, 'FAILED')
  assert.equal(failed.error_code, 'captcha_blocked')
  assert.equal(failed.status, 'NEEDS_AUTH')
  assert.equal(failed.flow_step, 'DISCOVERING')
  const profile = await send<{ version?: number }>(server, 'GET', `/profiles/${profile_name}`)
  assert.equal(profile.body.version, undefined)
  const done = await loggedIn(server, 'plain')
  const saved = await send<{ version?: number }>(server, 'GET', `/profiles/${done.profile_name}`)
  assert.equal(saved.body.version, 1)
})

test('events: the current state, each question once, and an end', async () => {
  const { id } = await connect(server, 'code')
  const early = follow(server, id)
  await begin(server, id)
  const answers: Record<string, object> = {
    email: { field_values: { email: 'me', password: 'right' } },
    code: { field_values: { code: '123456' } },
  }
  const events = await follow(server, id, ({ fields }) => {
    const [first] = (fields ?? []) as { id: string }[]
    if (first) void submit(server, id, answers[first.id]!)
  })
  // Each state once and in order. One that was replaced within milliseconds may be missing, but no question is.
  const seen = events.map(({ flow_status, flow_step, fields }) => {
    const [first] = (fields ?? []) as { id: string }[]
    return [flow_status, flow_step, ...(flow_step === 'AWAITING_INPUT' && first ? [first.id] : [])].join(' ')
  })
  const states = [
    'IN_PROGRESS DISCOVERING',
    'IN_PROGRESS AWAITING_INPUT email',
    'IN_PROGRESS SUBMITTING',
    'IN_PROGRESS AWAITING_INPUT code',
    'IN_PROGRESS SUBMITTING',
    'SUCCESS COMPLETED',
  ]
  let next = 0
  for (const state of seen.filter((each, index) => each !== seen[index - 1])) {
    next = states.indexOf(state, next) + 1
    assert.notEqual(next, 0, `${state} is out of place: ${seen.join(', ')}`)
  }
  assert.equal(next, states.length)
  for (const question of states.filter((state) => state.includes('AWAITING_INPUT'))) {
    assert.ok(seen.includes(question), `nobody was asked: ${question}`)
  }
  const last = events.at(-1)!
  assert.equal(last['post_login_url'], 'https://code.example/home')
  assert.equal(last['hosted_url'], undefined)
  // A client that connected before the flow sees the same, except perhaps its first moment.
  assert.deepEqual((await early).at(-1), last)
  // A client that connects later gets only the end.
  assert.deepEqual(await follow(server, id), [last])
})

test('the code works once, and the token opens only this connection', async () => {
  const { id } = await connect(server, 'choice')
  const other = await connect(server, 'choice')
  const { hosted_url, handoff_code } = await begin(server, id)
  assert.equal(hosted_url, `${server.url}${PATH.replace('connections', 'hosted')}/${id}#code=${handoff_code}`)
  const exchange = (where: string, code: string) =>
    server.fetch(`${PATH}/${where}/exchange`, {
      method: 'POST',
      key: null,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code }),
    })
  // A wrong code gets the same answer as a connection that does not exist.
  for (const [where, code] of [
    [other.id, handoff_code!],
    ['absent', handoff_code!],
    [id, 'guess'],
  ] as const) {
    const refused = await exchange(where, code)
    assert.equal(refused.status, 404)
    const { message } = (await refused.json()) as { message: string }
    assert.equal(message, 'Cannot find a login with this code; open the link of the login again')
  }
  assert.equal((await read(server, id)).hosted_url, hosted_url)
  const [one, two] = await Promise.all([exchange(id, handoff_code!), exchange(id, handoff_code!)])
  assert.deepEqual(
    [one.status, two.status].toSorted((a, b) => a - b),
    [200, 410],
  )
  const { jwt, invocation_id } = (await (one.status === 200 ? one : two).json()) as {
    jwt: string
    invocation_id: string
  }
  assert.equal((await exchange(id, handoff_code!)).status, 410)
  assert.ok(invocation_id)
  // Published relays accept a token only with these claims.
  const claims = JSON.parse(Buffer.from(jwt.split('.')[1]!, 'base64url').toString()) as Record<
    string,
    unknown
  >
  assert.equal(claims['iss'], 'kernel-api')
  assert.equal(claims['managed_auth_session_id'], invocation_id)
  const seconds = (claims['exp'] as number) - Date.now() / 1000
  assert.ok(seconds > 1_700 && seconds <= 1_800, String(seconds))
  const withToken = { fetch: (path: string, init = {}) => server.fetch(path, { ...init, key: jwt }) }
  // From then on it has a browser.
  await reaches(server, id, 'AWAITING_INPUT')
  const seen = await send<ManagedAuth>(withToken, 'GET', `${PATH}/${id}`)
  assert.equal(seen.status, 200)
  // A holder of the token does not get the code again.
  assert.equal(seen.body.hosted_url, `${server.url}/auth/hosted/${id}`)
  assert.equal((await read(server, id)).hosted_url, `${server.url}/auth/hosted/${id}`)
  const closed: [string, string, object?][] = [
    ['GET', PATH],
    ['GET', `${PATH}/${other.id}`],
    ['GET', `${PATH}/${other.id}/events`],
    ['POST', `${PATH}/${other.id}/submit`, { selected_choice_id: 'work' }],
    ['GET', `${PATH}/${id}/timeline`],
    ['PATCH', `${PATH}/${id}`, { health_checks: false }],
    ['DELETE', `${PATH}/${id}`],
    ['POST', `${PATH}/${id}/login`, {}],
    ['POST', `${PATH}/${id}/cancel`],
    ['POST', `${PATH}/${id}/check`],
    ['GET', '/browsers'],
    ['GET', `/browsers/${seen.body.browser_session_id}`],
    ['GET', '/credentials'],
    ['GET', '/org/limits'],
  ]
  for (const [method, path, body] of closed) {
    assert.equal((await send(withToken, method, path, body)).status, 401, `${method} ${path}`)
  }
  // A session token does not open a flow either.
  const session = new URL(seen.body.live_view_url!).searchParams.get('jwt')!
  assert.equal((await server.fetch(`${PATH}/${id}`, { key: session })).status, 401)
  const following = follow(withToken, id)
  assert.equal((await submit(withToken, id, { selected_choice_id: 'work' })).status, 202)
  await eventually('the password is asked for', async () => (await read(server, id)).fields?.length === 2)
  await submit(withToken, id, { field_values: { email: 'me', password: 'right' } })
  assert.equal((await following).at(-1)!['flow_status'], 'SUCCESS')
  assert.equal((await send<ManagedAuth>(withToken, 'GET', `${PATH}/${id}`)).body.flow_status, 'SUCCESS')
  assert.equal((await submit(withToken, id, { selected_choice_id: 'work' })).status, 422)
  // Another login invalidates the token.
  await begin(server, id)
  assert.equal((await send(withToken, 'GET', `${PATH}/${id}`)).status, 401)
  assert.equal((await submit(withToken, id, { selected_choice_id: 'work' })).status, 401)
})

test('a code expires with its flow, unless the flow ended normally', async () => {
  const exchange = async (id: string, { handoff_code }: LoginResponse) =>
    (await send(server, 'POST', `${PATH}/${id}/exchange`, { code: handoff_code })).status
  const { id } = await connect(server, 'slow')
  const canceled = await begin(server, id)
  await post(`${PATH}/${id}/cancel`)
  assert.equal(await exchange(id, canceled), 410)
  const first = await begin(server, id)
  await query(
    server,
    "UPDATE auth_flows SET deadline_at = now() - interval '1 s' WHERE connection_id = $1 AND finished_at IS NULL",
    [id],
  )
  assert.equal(await exchange(id, first), 410)
  const second = await begin(server, id)
  assert.equal(await exchange(id, first), 410)
  assert.equal(await exchange(id, second), 200)
  const failing = await connect(server, 'captcha')
  const failed = await begin(server, failing.id)
  await reaches(server, failing.id, 'FAILED')
  assert.equal(await exchange(failing.id, failed), 200)
  const again = await begin(server, failing.id)
  assert.equal(await exchange(failing.id, failed), 410)
  await reaches(server, failing.id, 'FAILED')
  assert.equal((await send(server, 'DELETE', `${PATH}/${failing.id}`)).status, 204)
  assert.equal(await exchange(failing.id, again), 410)
})

test('ending the session ends the flow', async () => {
  const { id } = await connect(server, 'slow')
  await begin(server, id)
  await eventually('it has a browser', async () => Boolean((await read(server, id)).browser_session_id))
  const { browser_session_id: session } = await read(server, id)
  assert.equal((await send(server, 'DELETE', `/browsers/${session}`)).status, 204)
  const failed = await reaches(server, id, 'FAILED')
  assert.equal(failed.error_code, 'browser_error')
  assert.match(failed.error_message!, /has ended: deleted/)
})

test('a check reports what it sees, and an unclear result changes nothing', async () => {
  const fresh = await connect(server, 'plain')
  assert.equal((await post(`${PATH}/${fresh.id}/check`)).status, 409)
  const inside = await loggedIn(server, 'plain', { health_checks: false })
  const checked = await post(`${PATH}/${inside.id}/check`)
  assert.equal(checked.status, 200, JSON.stringify(checked.body))
  assert.equal(checked.body.status, 'AUTHENTICATED')
  assert.ok(checked.body.last_auth_check_at)
  assert.equal(checked.body.last_auth_at, checked.body.last_auth_check_at)
  const [event] = await timeline(server, inside.id)
  assert.equal(event!.type, 'health_check')
  assert.equal(event!.status, 'AUTHENTICATED')
  assert.equal(event!.previous_status, 'AUTHENTICATED')
  assert.ok(event!.browser_session_id)
  // Cookies that the visit renewed are saved.
  await eventually('it is saved', async () => {
    const profile = await send<{ version?: number }>(server, 'GET', `/profiles/${inside.profile_name}`)
    return profile.body.version === 2
  })
  const unsure = await loggedIn(server, 'maybe')
  const told = await post(`${PATH}/${unsure.id}/check`)
  assert.equal(told.body.status, 'AUTHENTICATED')
  assert.ok(told.body.last_auth_check_at)
  assert.equal((await timeline(server, unsure.id))[0]!.error_code, 'inconclusive')
  const outside = await loggedIn(server, 'out', { auto_reauth: false })
  assert.equal((await post(`${PATH}/${outside.id}/check`)).body.status, 'NEEDS_AUTH')
  assert.equal((await timeline(server, outside.id))[0]!.status, 'NEEDS_AUTH')
  const kept = await send<{ version?: number }>(server, 'GET', `/profiles/${outside.profile_name}`)
  assert.equal(kept.body.version, 1)
})

test('the schedule detects a logout and logs in again, if allowed and possible', async () => {
  const { id, credential } = await loggedIn(server, 'out')
  await makeDue(server, id)
  await eventually('it has logged in again', async () => (await timeline(server, id)).length === 3)
  await reaches(server, id, 'SUCCESS')
  const [reauth, check, login] = await timeline(server, id)
  assert.deepEqual([reauth!.type, check!.type, login!.type], ['reauth', 'health_check', 'login'])
  assert.equal(reauth!.status, 'SUCCESS')
  const now = await read(server, id)
  assert.equal(now.status, 'AUTHENTICATED')
  assert.equal(now.flow_type, 'REAUTH')
  // After a wrong password it does not ask anyone and does not try again.
  await send(server, 'PATCH', `/credentials/${credential!.name}`, { values: { password: 'wrong' } })
  await makeDue(server, id)
  await reaches(server, id, 'FAILED')
  const failed = await read(server, id)
  assert.equal(failed.status, 'NEEDS_AUTH')
  assert.equal(failed.error_code, 'customer_input_required')
  await makeDue(server, id)
  await eventually(
    'it was checked once more',
    async () => (await timeline(server, id))[0]!.type === 'health_check',
  )
  assert.equal((await timeline(server, id)).filter(({ type }) => type === 'reauth').length, 2)
  assert.equal((await read(server, id)).status, 'NEEDS_AUTH')
})

test('a text message code needs a person', async () => {
  const { id } = await connect(server, 'code')
  await begin(server, id)
  await reaches(server, id, 'AWAITING_INPUT')
  await submit(server, id, { field_values: { email: 'me', password: 'right' } })
  await eventually('it asks for the code', async () => (await read(server, id)).fields?.[0]?.id === 'code')
  await submit(server, id, { field_values: { code: '123456' } })
  const done = await reaches(server, id, 'SUCCESS')
  assert.equal(done.can_reauth, false)
  assert.equal(done.can_reauth_reason, 'requires_sms_code')
  // A credential contains no one-time code.
  const credential = await send<{ value_keys: string[] }>(
    server,
    'GET',
    `/credentials/${done.credential!.name}`,
  )
  assert.deepEqual(credential.body.value_keys.toSorted(), ['email', 'password'])
})

test('lists are paged and filtered, within their project', async () => {
  const { body: project } = await post('/org/projects', { name: 'of another' })
  const { body: key } = await post('/org/api_keys', { name: 'other', project_id: project.id })
  const { key: secret } = key as unknown as { key: string }
  const there = { fetch: (path: string, init = {}) => server.fetch(path, { ...init, key: secret }) }
  const mine = await connect(there, 'listed')
  await connect(there, 'listed')
  const found = await send<ManagedAuth[]>(there, 'GET', `${PATH}?domain=LISTED.example&limit=1`)
  assert.equal(found.body.length, 1)
  assert.equal(found.headers.get('x-has-more'), 'true')
  const byQuery = await send<ManagedAuth[]>(there, 'GET', `${PATH}?query=${mine.id.slice(3, 20)}`)
  assert.deepEqual(
    byQuery.body.map(({ id }) => id),
    [mine.id],
  )
  const foreign = await connect(server, 'listed')
  for (const [method, path] of [
    ['GET', ''],
    ['PATCH', ''],
    ['DELETE', ''],
    ['POST', '/login'],
    ['POST', '/cancel'],
    ['POST', '/check'],
    ['GET', '/events'],
    ['GET', '/timeline'],
  ] as const) {
    const body = method === 'PATCH' || path === '/login' ? {} : undefined
    assert.equal((await send(there, method, `${PATH}/${foreign.id}${path}`, body)).status, 404, method + path)
  }
  const full = await send(server, 'DELETE', `/org/projects/${project.id}`)
  assert.equal(full.status, 409)
})

test('no typed value and no code is in the log, or unencrypted in the database', async () => {
  const { id } = await connect(server, 'plain')
  const { handoff_code } = await begin(server, id)
  await reaches(server, id, 'AWAITING_INPUT')
  const planted = 'planted-secret'
  await submit(server, id, { field_values: { email: 'planted-name', password: planted } })
  await submit(server, id, { fields: { [planted]: 'x' } })
  await reaches(server, id, 'AWAITING_INPUT')
  const log = server.output()
  const secrets = [planted, 'planted-name', handoff_code!]
  for (const secret of secrets) assert.ok(!log.includes(secret), `${secret} is in the log`)
  // Bytes are written as hexadecimal digits.
  const forms = secrets.flatMap((secret) => [secret, Buffer.from(secret).toString('hex')])
  const tables = ['auth_flows', 'auth_connections', 'auth_checks', 'idempotency_keys', 'audit_logs']
  for (const table of tables) {
    const rows = await query<{ text: string }>(server, `SELECT t::text AS text FROM ${table} AS t`)
    assert.ok(!rows.some(({ text }) => forms.some((form) => text.includes(form))), table)
  }
})
