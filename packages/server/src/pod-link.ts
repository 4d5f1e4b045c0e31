// The program of the container `link` of a Pod; see instances/pod.
import { readFileSync } from 'node:fs'
import { pause } from '@berth/kit/pause'
import { environment } from './config/environment.ts'
import { LinkHost } from './instances/pod/link-host.ts'
import { NativeCalls } from './instances/pod/native-calls.ts'
import type { PodStart } from './instances/pod/launcher.ts'
import { POD_LINK_PORT, sharedPaths } from './instances/pod/protocol.ts'

const CLOSE_MS = 1_000
/** Added to the lease, so that a machine which stops for a while ends nothing that would have lived on. */
const HANG_MARGIN_SECONDS = 60
const AGAIN_MS = 10_000
const {
  BERTH_POD_INSTANCE: identity = '',
  BERTH_POD_START: start = '{}',
  BERTH_POD_SHARED: shared = '/run/berth',
  BERTH_POD_KEY: key = '/run/berth-key/key',
  BERTH_POD_LISTEN: listen = `::/${POD_LINK_PORT}`,
} = environment
// SAFETY: the driver wrote it.
const { agent } = JSON.parse(start) as PodStart
const calls = NativeCalls.load()
// The tenant could make it hang, and then it would not end an instance that nobody holds.
const isAlive = () => calls?.endUnlessCalledWithin(agent.leaseSeconds + HANG_MARGIN_SECONDS)
isAlive()
setInterval(isAlive, AGAIN_MS)
const host = new LinkHost({
  paths: sharedPaths(shared),
  identity,
  key: readFileSync(key),
  leaseSeconds: agent.leaseSeconds,
  host: listen.split('/')[0] ?? '',
  port: Number(listen.split('/')[1]),
  calls,
})
process.stdout.write(`The link listens on port ${await host.listen()}\n`)
const end = await host.over
// A stranger in the middle of its handshake does not hold it up.
await Promise.race([host.close(), pause(CLOSE_MS)])
process.stdout.write(`The instance is over: ${end}\n`)
process.exit(0)
