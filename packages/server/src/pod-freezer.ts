// The program of the helper on each node; see instances/pod.
import { readFileSync } from 'node:fs'
import { environment } from './config/environment.ts'
import { ContainerFreezer } from './instances/pod/container-freezer.ts'
import { FreezerHost } from './instances/pod/freezer-host.ts'

const {
  FREEZER_KEY_FILE: key = '/run/berth-key/key',
  FREEZER_LISTEN: listen = '::/7444',
  FREEZER_CGROUPS: cgroups = '/node/cgroup',
} = environment
const host = new FreezerHost({
  freezer: new ContainerFreezer({ cgroups, processes: '/proc' }),
  key: Buffer.from(readFileSync(key, 'utf8').trim()),
  host: listen.split('/')[0] ?? '',
  port: Number(listen.split('/')[1]),
})
process.stdout.write(`The freezer listens on port ${await host.listen()}\n`)
process.once('SIGTERM', () => {
  void host.close().then(() => process.exit(0))
})
