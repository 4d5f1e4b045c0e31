// Below base_url the session token replaces a key: only for that session, and only while it exists.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Browser } from '@berth/contracts/browsers'
import { SESSION_BASE } from '@berth/contracts/control'
import { operations } from '@berth/contracts/operations'
import { sharedServer } from '../fixtures/shared-server.ts'
import { assertError } from './error-answer.ts'
import { HttpCaller, type Exchange } from './http-exchange.ts'
import { sampleRequest } from './sample-request.ts'

const owner = { after }
const server = await sharedServer(owner)
const caller = new HttpCaller(owner, server.url)

async function newSession(): Promise<Browser> {
  const answer = await caller.sendJson(server.key, 'POST', '/browsers', { headless: false })
  assert.equal(answer.status, 200, answer.text)
  return answer.json as Browser
}

const tokenOf = (url: string) => new URL(url).searchParams.get('jwt')!
const session = await newSession()
const ended = await newSession()
await caller.sendJson(server.key, 'DELETE', `/browsers/${ended.session_id}`)

const controls = operations.flatMap((operation) => {
  return operation.sessionPath === undefined ? [] : [{ operation, at: SESSION_BASE + operation.sessionPath }]
})

function withToken(exchange: Exchange, ...tokens: string[]): Exchange {
  const query = tokens.map((token) => `jwt=${encodeURIComponent(token)}`).join('&')
  return { ...exchange, path: `${exchange.path}${exchange.path.includes('?') ? '&' : '?'}${query}` }
}

const good = tokenOf(session.cdp_ws_url)
const [head, , signature] = good.split('.')
const [, otherClaims] = tokenOf(ended.cdp_ws_url).split('.')
const bad: Record<string, string[]> = {
  'no token': [],
  'an empty one': [''],
  'an API key': [server.key],
  'that of BiDi': [tokenOf(session.webdriver_ws_url)],
  'that of Playwright': [tokenOf(session.playwright_ws_url!)],
  'the token of the live view': [tokenOf(session.browser_live_view_url!)],
  'a token with the claims of another': [`${head}.${otherClaims}.${signature}`],
  'one cut short': [good.slice(0, -1)],
  'two of them': [good, good],
}

const started = await caller.sendJson(server.key, 'POST', `/browsers/${session.session_id}/replays`)
const { replay_id: replays } = started.json as { replay_id: string }

for (const { operation, at } of controls) {
  const exchange = sampleRequest(operation, at, {
    process: '00000000-0000-4000-8000-000000000000',
    watch: 'w',
    replays,
  })

  test(`${operation.method} ${at} accepts the session token and nothing else`, async () => {
    for (const [what, tokens] of Object.entries(bad)) {
      assertError(await caller.send(withToken(exchange, ...tokens)), 'unauthorized', what)
    }
    const asKey = [['Authorization', `Bearer ${server.key}`]] as const
    assertError(
      await caller.send({ ...exchange, headers: [...(exchange.headers ?? []), ...asKey] }),
      'unauthorized',
    )
    assertError(await caller.send(withToken(exchange, tokenOf(ended.cdp_ws_url))), 'not_found')
    const answer = await caller.send(withToken(exchange, good))
    // A recording in progress answers 202, without content.
    const isAccepted = operation.id === 'downloadReplay' && answer.status === 202
    assert.ok(answer.status === operation.status || isAccepted, answer.text)
  })
}

test('a session token is not a key', async () => {
  for (const path of ['/browsers', `/browsers/${session.session_id}`, '/org/projects']) {
    assertError(await caller.sendJson(good, 'GET', path), 'unauthorized')
    assertError(await caller.send({ method: 'GET', path: `${path}?jwt=${good}` }), 'unauthorized')
  }
})
