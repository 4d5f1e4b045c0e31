// The local driver does what every driver must. tests/kubernetes has the same for Pods.
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { distOf } from '@berth/server/platform/files/installation'
import { driverConformance } from './conformance.ts'
import { instanceGroups, openDriver, processesOf, skip } from './fixture.ts'

const addresses = Object.values(networkInterfaces()).flatMap((entries = []) => entries)

driverConformance('local', {
  skip,
  open: (owner) => openDriver(owner, { agent: join(distOf('agent'), 'agent.mjs') }),
  leftOf: async (ids) => ids.flatMap((id) => instanceGroups(id)),
  // No program of the session can.
  killAgent: async (_owner, { id }) => {
    const agents = processesOf(id).filter(({ command }) => command.includes('/run/berth-agent/agent.mjs'))
    for (const { pid } of agents) process.kill(pid, 'SIGKILL')
  },
  closed: addresses
    .filter(({ family, internal }) => family === 'IPv4' && !internal)
    .map(({ address }) => ({ host: address, port: 22 })),
  cycles: 10,
})
