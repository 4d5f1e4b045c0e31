import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ComponentStatus } from '@berth/contracts/system'
import { statusOf, StatusReport } from './status.ts'

const of = (...all: ComponentStatus[]) => statusOf(all.map((status) => ({ name: 'x', status })))

test('the whole is as good as its parts', () => {
  assert.equal(of('operational', 'operational'), 'operational')
  assert.equal(of('operational', 'maintenance'), 'maintenance')
  assert.equal(of('full_outage', 'maintenance'), 'partial_outage')
  assert.equal(of('full_outage', 'full_outage'), 'full_outage')
})

const report = (now: {
  isDraining?: boolean
  isUp?: boolean
  canRun?: boolean
  gpu?: { isUp: boolean; detail: string; isMinor?: boolean }
}) =>
  new StatusReport({
    readiness: {
      isDraining: now.isDraining ?? false,
      isDatabaseUp: () => Promise.resolve(now.isUp ?? true),
    },
    canRunSessions: () => now.canRun ?? true,
    further: () => (now.gpu ? [{ name: 'GPU sessions', ...now.gpu }] : []),
  }).read()

test('a lost database stops new sessions, and running ones go on', async () => {
  const { status, groups } = await report({ isUp: false })
  assert.equal(status, 'partial_outage')
  assert.deepEqual(
    groups.map((group) => [group.name, group.status]),
    [
      ['API', 'partial_outage'],
      ['Browsers', 'partial_outage'],
    ],
  )
})

test('a host without what sessions need says so', async () => {
  const { status, groups } = await report({ canRun: false })
  assert.equal(status, 'partial_outage')
  assert.deepEqual(
    groups.map((group) => group.status),
    ['operational', 'full_outage'],
  )
})

test('a server that stops is in maintenance', async () => {
  assert.equal((await report({ isDraining: true })).status, 'maintenance')
  assert.equal((await report({})).status, 'operational')
})

test('a GPU is named, and one that cannot be used is a partial outage with its reason', async () => {
  const found = await report({ gpu: { isUp: true, detail: 'NVIDIA H200' } })
  assert.equal(found.status, 'operational')
  const broken = await report({ gpu: { isUp: false, detail: 'the driver is newer than its libraries' } })
  assert.deepEqual(broken.groups[1]!.components.at(-1), {
    name: 'GPU sessions',
    status: 'full_outage',
    detail: 'the driver is newer than its libraries',
  })
  assert.equal(broken.status, 'partial_outage')
})

test('what only costs more is degraded, and no outage', async () => {
  const { status, groups } = await report({ gpu: { isUp: false, detail: 'no swap', isMinor: true } })
  assert.equal(groups[1]!.components.at(-1)!.status, 'degraded_performance')
  assert.deepEqual([status, groups[1]!.status], ['operational', 'operational'])
})
