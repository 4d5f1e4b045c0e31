import assert from 'node:assert/strict'
import test from 'node:test'
import type { Checks } from '../run/memory.ts'
import { summarize } from './page-summary.ts'
import { voteOn } from './check.ts'
import { ownHosts } from '../hosts/hosts.ts'
import {
  button,
  field,
  link,
  page,
  password,
  type GivenPage,
} from '../../../../tests/fixtures/page-snapshots.ts'

const checks: Checks = {
  version: 1,
  url: 'https://www.example.com/home',
  signedIn: {
    url: 'https://www.example.com/home',
    status: 200,
    markers: ['control:log out', 'control:orders', 'heading:your things'],
  },
  signedOut: {
    url: 'https://www.example.com/login',
    status: 200,
    markers: ['field:password', 'control:log in'],
  },
}

const vote = (given: GivenPage) =>
  voteOn(summarize(checks.url, page({ url: checks.url, ...given }), []), checks, ownHosts('example.com'))
    .result

const inside = [
  link('Log out', 'https://www.example.com/out', { group: 0 }),
  link('Orders', 'https://www.example.com/o', { group: 0 }),
]
const outside = [field({ label: 'Username' }), password(), button('Log in')]

test('a page that looks as before means signed in, a login page means signed out', () => {
  assert.equal(vote({ elements: inside, headings: ['Your things'] }), 'in')
  assert.equal(vote({ url: 'https://www.example.com/login', elements: outside }), 'out')
  assert.equal(vote({ status: 401 }), 'out')
})

test('errors, bot walls, empty pages and other domains are inconclusive', () => {
  assert.equal(vote({ status: 503, text: 'Maintenance' }), 'inconclusive')
  assert.equal(vote({ failure: 'net::ERR_TIMED_OUT', status: null }), 'inconclusive')
  assert.equal(vote({ status: 403, text: 'Access denied. You have been blocked.' }), 'inconclusive')
  assert.equal(vote({}), 'inconclusive')
  assert.equal(vote({ url: 'https://parked.example/', elements: outside }), 'inconclusive')
  assert.equal(vote({ status: 404, text: 'Not found' }), 'inconclusive')
})

test('a page with signs of both states is inconclusive', () => {
  assert.equal(
    vote({
      elements: [...inside, ...outside.map((each) => ({ ...each, group: 0 }))],
      headings: ['Your things'],
    }),
    'inconclusive',
  )
})

test('a signed-in page with an alarming notice is the signed-in page', () => {
  const text = 'Your things\nThe mirror in Oslo has been deactivated'
  const orders = [link('Orders', 'https://www.example.com/o', { group: 0 })]
  const messages = [{ text: 'The mirror in Oslo has been deactivated', kind: 'alert' as const, group: null }]
  assert.equal(vote({ elements: [...orders, ...inside], headings: ['Your things'], text, messages }), 'in')
})

test('a missing log-out link and a log-in link outweigh other similarities', () => {
  assert.equal(
    vote({
      headings: ['Your things'],
      elements: [
        link('Orders', 'https://www.example.com/o'),
        link('Log in', 'https://www.example.com/login'),
      ],
    }),
    'out',
  )
})
