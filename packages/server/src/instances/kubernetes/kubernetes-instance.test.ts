import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { pino } from 'pino'
import { newId } from '@berth/kit/ids'
import { pause } from '@berth/kit/pause'
import { EgressPolicy } from '../egress/policy.ts'
import { EgressProxy } from '../egress/proxy.ts'
import { CLOSED } from '../egress/route.ts'
import { KubernetesInstance } from './kubernetes-instance.ts'

const LEASE_SECONDS = 0.2

test('an instance that was taken over and never answers ends as lost', async () => {
  const log = pino({ level: 'silent' })
  let isRemoved = false
  const instance = new KubernetesInstance({
    id: newId(),
    key: randomBytes(32),
    leaseSeconds: LEASE_SECONDS,
    limits: undefined,
    egress: new EgressProxy({ policy: new EgressPolicy({ allow: [] }), log }).open(CLOSED),
    remove: async () => void (isRemoved = true),
    onGone: () => {},
    log,
  })
  instance.reach({ host: '127.0.0.1', port: await closedPort() }, 1)
  // The lease is over, and with it the time to answer.
  await pause(LEASE_SECONDS * 1000)
  await instance.destroy()
  assert.equal(await instance.ended, 'lost')
  assert.ok(isRemoved)
})

async function closedPort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
