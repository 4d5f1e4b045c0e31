// Pods do what every driver's instances must. See tests/instances/conformance.ts.
import { readFileSync } from 'node:fs'
import { killAgent } from '../instances/agent-shell.ts'
import { driverConformance } from '../instances/conformance.ts'
import { cluster, kubectl } from './cluster.ts'
import { leftOf, openDriver } from './fixture.ts'

/** Of the cluster's API. */
const server = new URL(/server"?: ?"?(https?:[^\s"]+)/.exec(readFileSync(cluster.kubeconfig, 'utf8'))![1]!)
const nodes = JSON.parse(await kubectl('get', 'nodes', '--output', 'json')) as {
  items: { status: { addresses: { type: string; address: string }[] } }[]
}
const addresses = nodes.items
  .flatMap(({ status }) => status.addresses)
  .filter(({ type }) => type === 'InternalIP')

driverConformance('kubernetes', {
  skip: false,
  open: (owner) => openDriver(owner),
  leftOf,
  killAgent,
  closed: [
    { host: server.hostname, port: Number(server.port || 443) },
    // The Service of the API, and the kubelets.
    { host: '10.96.0.1', port: 443 },
    ...addresses.map(({ address }) => ({ host: address, port: 10250 })),
  ],
  cycles: 50,
})
