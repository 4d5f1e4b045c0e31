// A server reduced to its driver, as a separate process that a test can kill. It starts an instance for every given
// id, freezes those whose id ends with "-frozen", reports it, and then waits.
import { pino } from 'pino'
import { LocalDriver } from '@berth/server/instances/local/local-driver'
import { agentFile, instanceOptions, runInside, silentEgress } from './fixture.ts'

const [dataDir, lease, ...ids] = process.argv.slice(2)
const leaseSeconds = Number(lease)
const driver = await LocalDriver.open({
  dataDir: dataDir!,
  agentFile,
  leaseSeconds,
  allowWeakIsolation: false,
  egress: silentEgress,
  log: pino({ level: 'silent' }),
})
console.log('open')
for (const id of ids) {
  const instance = await driver.start({ ...instanceOptions(), id, agent: { leaseSeconds } })
  await runInside(instance, 'globalThis.memory = "kept"')
  if (id.endsWith('-frozen')) await instance.freeze()
}
console.log('ready')
setInterval(() => {}, 1000)
