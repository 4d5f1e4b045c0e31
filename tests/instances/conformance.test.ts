// The local driver does what every driver must. tests/kubernetes has the same for Pods.
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { distOf } from '@berth/server/platform/files/installation'
import { driverConformance } from './conformance.ts'
import { instanceGroups, openDriver, skip } from './fixture.ts'

const addresses = Object.values(networkInterfaces()).flatMap((entries = []) => entries)

driverConformance('local', {
  skip,
  open: (owner) => openDriver(owner, { agent: join(distOf('agent'), 'agent.mjs') }),
  leftOf: async (ids) => ids.flatMap((id) => instanceGroups(id)),
  closed: addresses
    .filter(({ family, internal }) => family === 'IPv4' && !internal)
    .map(({ address }) => ({ host: address, port: 22 })),
  cycles: 10,
})
