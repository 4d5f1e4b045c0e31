// What every driver must do, whatever it makes instances of. The agent and the browser are real.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { WebSocket } from 'ws'
import { newId } from '@berth/kit/ids'
import { AgentClient } from '@berth/server/instances/agent/client'
import { startChromium } from '@berth/server/instances/agent/chromium'
import { readState, renewLease } from '@berth/server/instances/agent/state'
import type { Driver, Instance, InstanceOptions } from '@berth/server/instances/driver/driver'
import { cleanUpAfter, type Owner } from '../fixtures/cleanup.ts'
import { eventually } from '../fixtures/host.ts'
import { reach, shell } from './agent-shell.ts'

const MiB = 1024 * 1024
const soon = () => AbortSignal.timeout(60_000)

export interface Conformance {
  /** Why it cannot run here, or false. */
  readonly skip: string | false
  readonly open: (owner: Owner) => Promise<Driver>
  /** What is left of these instances; nothing when all is well. */
  readonly leftOf: (ids: readonly string[]) => Promise<readonly string[]>
  /** Ends the agent from wherever it can be ended. */
  readonly killAgent: (owner: Owner, instance: Instance) => Promise<void>
  /** Addresses that no instance may reach: of machines, of the cluster's API, of metadata. */
  readonly closed: readonly { readonly host: string; readonly port: number }[]
  /** How many instances one after another. */
  readonly cycles: number
}

const options = (changes: Partial<InstanceOptions['limits']> = {}): InstanceOptions => ({
  id: newId(),
  limits: { memoryBytes: 768 * MiB, processes: 400, cpus: 1, homeBytes: 64 * MiB, ...changes },
  agent: { leaseSeconds: 60 },
  isBackground: false,
})

async function start(owner: Owner, driver: Driver, given = options()): Promise<Instance> {
  const instance = await driver.start(given)
  cleanUpAfter(owner, () => instance.destroy())
  return instance
}

export function driverConformance(
  name: string,
  { skip, open, leftOf, killAgent, closed, cycles }: Conformance,
): void {
  describe(`the driver "${name}"`, { skip }, () => {
    test('starts an instance whose browser answers over CDP', { timeout: 180_000 }, async (t) => {
      const instance = await start(t, await open(t))
      const agent = new AgentClient(instance)
      t.after(() => agent.close())
      const browser = { headless: true, width: 800, height: 600, kiosk: false }
      await startChromium(agent, browser, { signal: soon() })
      const { devtools_path: path } = await readState(agent)
      const stream = await instance.connect('cdp', soon())
      const socket = new WebSocket(`ws://127.0.0.1${path}`, { createConnection: () => stream as never })
      await once(socket, 'open')
      socket.send(JSON.stringify({ id: 1, method: 'Browser.getVersion' }))
      const [message] = (await once(socket, 'message')) as [Buffer]
      assert.match(message.toString(), /"product":"(Headless)?Chrome\//)
      socket.close()
      assert.ok((await renewLease(agent, 60, { signal: soon() })).browser === 'ready')
    })

    test(
      'lets an instance reach nothing by itself, and lends it no right',
      { timeout: 180_000 },
      async (t) => {
        const driver = await open(t)
        const [instance] = await Promise.all([start(t, driver), start(t, driver)])
        let arrived = 0
        const canary = createServer((socket) => {
          arrived++
          socket.destroy()
        })
        canary.listen(0, '0.0.0.0')
        t.after(() => void canary.close())
        await once(canary, 'listening')
        const { port } = canary.address() as AddressInfo
        const places = [{ host: '127.0.0.1', port }, { host: '169.254.169.254', port: 80 }, ...closed]
        for (const { host, port: at } of [
          ...places,
          ...closed.map(({ host: near }) => ({ host: near, port })),
        ]) {
          const result = await reach(t, instance, host, at)
          assert.match(result, /^(ECONNREFUSED|ENETUNREACH|EHOSTUNREACH|timeout)$/, `${host}:${at} ${result}`)
        }
        assert.equal(arrived, 0)
        const { stdout: devices } = await shell(t, instance, 'cat /proc/net/dev')
        assert.deepEqual(devices.match(/\w+(?=:)/g), ['lo'])
        const { stdout: status } = await shell(t, instance, 'cat /proc/self/status')
        for (const set of ['CapPrm', 'CapEff', 'CapBnd', 'CapAmb']) {
          assert.match(status, new RegExp(`^${set}:\\s+0+$`, 'm'))
        }
        assert.match(status, /^NoNewPrivs:\s+1$/m)
        assert.match(status, /^Seccomp:\s+2$/m)
        const secrets =
          'ls /var/run/secrets/kubernetes.io /run/secrets /run/berth-key /proc/1/root/run/berth-key 2>/dev/null'
        assert.equal((await shell(t, instance, secrets)).stdout, '')
      },
    )

    test('says that an instance ran out of memory', { timeout: 180_000 }, async (t) => {
      const instance = await start(t, await open(t), options({ memoryBytes: 300 * MiB }))
      await readState(new AgentClient(instance))
      void shell(t, instance, 'head -c 2000M /dev/zero | tail').catch(() => {})
      assert.equal(await instance.ended, 'out-of-memory')
      await eventually('nothing is left', async () => (await leftOf([instance.id])).length === 0)
    })

    test('bounds the processes of an instance', { timeout: 180_000 }, async (t) => {
      const instance = await start(t, await open(t), options({ processes: 200 }))
      const script = 'for each in $(seq 600); do sleep 20 & done 2>/dev/null; ls /proc | grep -c "^[0-9]"'
      const { stdout } = await shell(t, instance, script).catch(() => ({ stdout: '0' }))
      assert.ok(Number(stdout) <= 200, stdout)
    })

    test('destroys an instance once, however often it is told to', { timeout: 180_000 }, async (t) => {
      const instance = await start(t, await open(t))
      await readState(new AgentClient(instance))
      await Promise.all([instance.destroy(), instance.destroy()])
      await instance.destroy()
      assert.equal(await instance.ended, 'destroyed')
      await assert.rejects(instance.connect('api', soon()), /Cannot connect to instance/)
      await eventually('nothing is left', async () => (await leftOf([instance.id])).length === 0)
    })

    test('leaves nothing of a start that is stopped', { timeout: 180_000 }, async (t) => {
      const driver = await open(t)
      const ids: string[] = []
      for (const afterMs of [0, 5, 30, 200]) {
        const wanted = options()
        ids.push(wanted.id)
        const stop = new AbortController()
        const timer = setTimeout(() => stop.abort(new Error('enough')), afterMs)
        const started = await driver.start(wanted, stop.signal).catch((error: unknown) => {
          assert.match((error as Error).message, /enough/)
          return undefined
        })
        clearTimeout(timer)
        await started?.destroy()
      }
      await eventually('nothing is left', async () => (await leftOf(ids)).length === 0)
    })

    test('reports an instance that ends by itself', { timeout: 180_000 }, async (t) => {
      const instance = await start(t, await open(t))
      await readState(new AgentClient(instance))
      await killAgent(t, instance)
      assert.equal(await instance.ended, 'ended-by-itself')
      await eventually('nothing is left', async () => (await leftOf([instance.id])).length === 0)
    })

    test(`leaves nothing after ${cycles} instances`, { timeout: 600_000 }, async (t) => {
      const driver = await open(t)
      const ids: string[] = []
      const cycle = async () => {
        const instance = await driver.start(options())
        ids.push(instance.id)
        await readState(new AgentClient(instance))
        await instance.destroy()
      }
      for (let done = 0; done < cycles; done += 5) await Promise.all([1, 2, 3, 4, 5].map(cycle))
      await eventually('nothing is left', async () => (await leftOf(ids)).length === 0)
    })
  })
}
