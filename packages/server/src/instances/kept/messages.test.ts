import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkRequest, type Request } from './messages.ts'

const MiB = 1024 * 1024
const max = { memoryBytes: 4096 * MiB, processes: 4096, cpus: 2, homeBytes: 1024 * MiB }
const id = 'a'.repeat(24)
const limits = { memoryBytes: 512 * MiB, processes: 100, cpus: 0.3, homeBytes: 32 * MiB }
const browser = { headless: true, width: 1024, height: 768, kiosk: false }

const good: Request[] = [
  { n: 0, ask: 'open' },
  { n: 1, ask: 'start', id, limits, agent: {}, isBackground: true, gpu: false },
  { n: 2, ask: 'start', id, limits, agent: { browser, hostLoopback: true }, isBackground: false, gpu: false },
  {
    n: 3,
    ask: 'start',
    id,
    limits,
    agent: { browser: { ...browser, locale: 'de-DE', timezone: 'Europe/Berlin', blocksPopups: true } },
    isBackground: false,
    gpu: false,
  },
  { n: 4, ask: 'cancel', of: 3 },
  { n: 5, ask: 'adopt' },
  { n: 6, ask: 'connect', id },
  { n: 7, ask: 'freeze', id },
  { n: 8, ask: 'thaw', id },
  { n: 9, ask: 'setLimits', id, limits },
  { n: 10, ask: 'setBackground', id, isBackground: true },
  { n: 11, ask: 'endureOom', id },
  { n: 12, ask: 'destroy', id },
  { n: 13, ask: 'goAhead' },
  { n: 14, ask: 'close' },
]

test('every request of the server passes', () => {
  for (const request of good) assert.equal(checkRequest(structuredClone(request), max).ask, request.ask)
})

test('every request is refused with an unknown field, and without any of its fields', () => {
  for (const request of good) {
    const { ask } = request
    assert.throws(() => checkRequest({ ...request, path: '/etc' }, max), {
      message: `Refused: "${ask}" has an unknown field "path"`,
    })
    for (const name of Object.keys(request)) {
      const { [name as keyof Request]: _left, ...rest } = request
      assert.throws(() => checkRequest(rest, max), /Refused/, `${ask} without ${name}`)
    }
  }
})

test('every field is refused with a value of another type', () => {
  for (const request of good) {
    for (const name of Object.keys(request)) {
      for (const wrong of [null, [], {}, 'x/../y', -1, 1.5, Number.NaN, '']) {
        // What is left out of the optional fields is not wrong.
        if (name === 'agent' && JSON.stringify(wrong) === '{}') continue
        assert.throws(
          () => checkRequest({ ...request, [name]: wrong }, max),
          /Refused/,
          `${request.ask} ${name}`,
        )
      }
    }
  }
})

const bad: [object, RegExp][] = [
  [{ id: '../etc' }, /"start\.id" must match/],
  [{ id: '.lock' }, /"start\.id" must match/],
  [{ id: 'a/b' }, /"start\.id"/],
  [{ id: 'a'.repeat(65) }, /"start\.id"/],
  [{ id: 'a\n' }, /"start\.id"/],
  [
    { limits: { ...limits, memoryBytes: max.memoryBytes + 1 } },
    /"start\.limits\.memoryBytes" must be a number/,
  ],
  [{ limits: { ...limits, processes: 4097 } }, /"start\.limits\.processes"/],
  [{ limits: { ...limits, processes: 0 } }, /"start\.limits\.processes"/],
  [{ limits: { ...limits, cpus: 3 } }, /"start\.limits\.cpus"/],
  [{ limits: { ...limits, homeBytes: '1; rm' } }, /"start\.limits\.homeBytes"/],
  [{ limits: { ...limits, swap: 1 } }, /"start\.limits" has an unknown field "swap"/],
  [{ limits: { memoryBytes: 1 } }, /"start\.limits\.processes" is missing/],
  [{ agent: { leaseSeconds: 5 } }, /"start\.agent" has an unknown field "leaseSeconds"/],
  [{ agent: { uids: { user: 0, app: 0 } } }, /"start\.agent" has an unknown field "uids"/],
  [{ agent: { browser: { ...browser, width: 100_000 } } }, /"start\.agent\.browser\.width"/],
  [{ agent: { browser: { ...browser, locale: '--flag x' } } }, /"start\.agent\.browser\.locale"/],
  [{ agent: { browser: { ...browser, timezone: '$(x)' } } }, /"start\.agent\.browser\.timezone"/],
  [{ agent: { browser: { ...browser, blocksPopups: 1 } } }, /"start\.agent\.browser\.blocksPopups"/],
]

test('bad ids, limits beyond those of the operator, and wishes for the agent are refused by name', () => {
  for (const [change, message] of bad) {
    assert.throws(() => checkRequest({ ...good[1], ...change }, max), { message }, JSON.stringify(change))
  }
})

test('what is no request is refused', () => {
  for (const message of [
    undefined,
    null,
    1,
    'open',
    [],
    {},
    { n: 1 },
    { n: 1, ask: 'exec' },
    { n: 1, ask: 'toString' },
    { n: 1, ask: '__proto__' },
  ]) {
    assert.throws(() => checkRequest(message, max), /Refused: "ask" must be one of open, start/)
  }
})
