// Who has which address in the cluster. All of it is in network namespaces of its own, so nothing of this is seen outside.

/** The machine: the control plane, the tests, and what they serve. */
export const MACHINE = '10.98.0.1'
export const API = `https://${MACHINE}:6443`
export const SERVICES = '10.96.0.0/16'
export const SERVICE_OF_API = '10.96.0.1'
export const PODS = '10.97.0.0/16'
export const BRIDGE = 'nodes'

export const addressOfNode = (number: number) => `10.98.0.${10 + number}`
export const podsOfNode = (number: number) => `10.97.${number}.0/24`
/** The machine's end of the wire to a node. */
export const wireOfNode = (number: number) => `node${number}`
