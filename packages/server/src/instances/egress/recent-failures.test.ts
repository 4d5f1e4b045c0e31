import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RecentFailures } from './recent-failures.ts'
import { EgressRefusal } from './refusal.ts'

test('a failure is known by its host and port for a moment, and that of a name for every port', () => {
  let now = 0
  const failures = new RecentFailures(() => now)
  failures.remember({ host: 'a.example', port: 443 }, new EgressRefusal('egress_denied', 'no'))
  failures.remember(
    { host: 'b.example' },
    new EgressRefusal('egress_failed', 'no', { proxyError: 'upstream_dns_failure' }),
  )
  failures.remember({ host: 'c.example', port: 80 }, new EgressRefusal('egress_busy', 'not a failure'))
  const find = (host: string, port: number) => failures.find({ host, port })
  assert.deepEqual(find('a.example', 443), { code: 'destination_blocked', status: 403 })
  assert.equal(find('a.example', 80), undefined)
  assert.deepEqual(find('b.example', 8443), { code: 'upstream_dns_failure', status: 502 })
  assert.equal(find('c.example', 80), undefined)
  now = 10_001
  assert.equal(find('a.example', 443), undefined)
})

test('only the newest failures are kept', () => {
  const failures = new RecentFailures()
  for (let port = 1; port <= 300; port++) {
    failures.remember({ host: 'a.example', port }, new EgressRefusal('egress_timeout', 'no'))
  }
  assert.equal(failures.find({ host: 'a.example', port: 44 }), undefined)
  assert.equal(failures.find({ host: 'a.example', port: 45 })?.code, 'upstream_timeout')
})
