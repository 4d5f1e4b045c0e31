import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ageOf, selectAtCreation, selectAtUpdate, shownTelemetry, type Age } from './selection.ts'

const FOUR = ['console', 'page', 'interaction', 'network'] as const
const DEFAULT = ['control', 'connection', 'system', 'captcha'] as const
const on = { enabled: true }
const off = { enabled: false }
const create = (age: Age, request: Parameters<typeof selectAtCreation>[0]['request']) =>
  selectAtCreation({ request, age })

const update = (age: Age, request: object | null | undefined, current: readonly 'console'[] | null) =>
  selectAtUpdate({ request, age }, current)

test('the version of the published client decides between opt-out and opt-in', () => {
  const ages = ['0.55.0', '0.63.9', '0.64.0', '0.84.0', '0.100.1', '1.0.0', 'x', undefined].map((version) =>
    ageOf({ 'x-stainless-package-version': version }),
  )
  assert.deepEqual(ages, ['opt-out', 'opt-out', 'opt-in', 'opt-in', 'opt-in', 'opt-in', 'opt-out', 'opt-out'])
})

test('at creation, opt-out clients get every category that they do not turn off', () => {
  assert.equal(create('opt-out', undefined), null)
  assert.equal(create('opt-out', null), null)
  assert.deepEqual(create('opt-out', {}), FOUR)
  assert.deepEqual(create('opt-out', { browser: {} }), FOUR)
  assert.deepEqual(create('opt-out', { browser: { network: off } }), ['console', 'page', 'interaction'])
  assert.deepEqual(create('opt-out', { browser: { console: {}, control: on } }), [...FOUR, 'control'])
  assert.equal(
    create('opt-out', { browser: { console: off, page: off, interaction: off, network: off } }),
    null,
  )
  assert.equal(create('opt-out', off), null)
  assert.deepEqual(create('opt-out', on), DEFAULT)
})

test('at creation, opt-in clients get a default set and the categories that they add', () => {
  for (const nothing of [undefined, null, {}, off]) assert.equal(create('opt-in', nothing), null)
  assert.deepEqual(create('opt-in', on), DEFAULT)
  assert.deepEqual(create('opt-in', { browser: {} }), DEFAULT)
  assert.deepEqual(create('opt-in', { browser: { console: on } }), ['console', ...DEFAULT])
  assert.deepEqual(create('opt-in', { ...on, browser: { control: off, screenshot: on } }), [
    'connection',
    'system',
    'captcha',
    'screenshot',
  ])
  assert.equal(
    create('opt-in', { browser: { control: off, connection: off, system: off, captcha: off } }),
    null,
  )
  assert.throws(() => create('opt-in', { ...off, browser: {} }), /enabled: false together with browser/)
})

test('an update merges the given categories, and enabled: true starts from the defaults', () => {
  for (const age of ['opt-in', 'opt-out'] as const) {
    for (const same of [undefined, null, {}]) assert.equal(update(age, same, ['console']), undefined)
    assert.equal(update(age, off, ['console']), null)
    assert.deepEqual(update(age, { browser: { page: on } }, ['console']), ['console', 'page'])
    assert.equal(update(age, { browser: { console: off } }, ['console']), null)
    assert.deepEqual(update(age, on, ['console']), DEFAULT)
    assert.throws(() => update(age, { ...off, browser: {} }, null))
  }
  assert.deepEqual(update('opt-in', { browser: { page: on } }, null), ['page', ...DEFAULT])
  assert.deepEqual(update('opt-in', { browser: {} }, ['console']), ['console'])
  assert.deepEqual(update('opt-out', { browser: {} }, ['console']), FOUR)
  assert.deepEqual(update('opt-out', { browser: { page: off } }, null), ['console', 'interaction', 'network'])
})

test('the shown selection has the categories that the client knows', () => {
  assert.equal(shownTelemetry(null, 'opt-in'), undefined)
  assert.deepEqual(shownTelemetry(['console', 'control'], 'opt-out'), {
    browser: { console: on, page: off, interaction: off, network: off, control: on },
  })
  assert.equal(Object.keys(shownTelemetry(['console'], 'opt-in')!.browser).length, 9)
})
