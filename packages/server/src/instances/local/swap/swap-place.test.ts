import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cryptsetupArguments } from './encrypted-file.ts'
import { OperatorsSwap } from './operators-swap.ts'
import type { SwapDevice } from './swap-devices.ts'
import type { SwapKind } from './swap-kind.ts'
import { SwapPlace } from './swap-place.ts'
import { readUse } from './zram.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent }
const GB = 2 ** 30
const device = (path: string, usedBytes = 0): SwapDevice => ({ path, sizeBytes: 4 * GB, usedBytes })

/** Keeps its device in a list, as the kernel does. */
class ListedKind implements SwapKind {
  readonly place = 'a place'
  readonly #machine: SwapDevice[]
  readonly #reason: string | undefined
  makes = 0
  fails = false

  constructor(machine: SwapDevice[], reason?: string) {
    this.#machine = machine
    this.#reason = reason
  }

  whyNot(): string | undefined {
    return this.#reason
  }

  usable(devices: readonly SwapDevice[]): readonly SwapDevice[] {
    return devices.filter(({ path }) => path === '/dev/ours')
  }

  async make(): Promise<void> {
    this.makes++
    if (this.fails) throw new Error('no such thing')
    this.#machine.push(device('/dev/ours'))
  }

  room() {
    return { freeBytes: 1, totalBytes: 2 }
  }

  async remove(): Promise<void> {
    const at = this.#machine.findIndex(({ path }) => path === '/dev/ours')
    if (at >= 0) this.#machine.splice(at, 1)
  }
}

function place(kinds: readonly SwapKind[], machine: SwapDevice[], more = {}) {
  return new SwapPlace({
    kinds,
    whyNot: undefined,
    isUnwanted: false,
    alone: (work) => work(),
    log: silent,
    readDevices: () => machine,
    ...more,
  })
}

test('the device is made when it is needed, once, and turned off when nobody uses it', async () => {
  const machine: SwapDevice[] = []
  const kind = new ListedKind(machine)
  const swap = place([kind], machine)
  assert.deepEqual(swap.report, { place: 'a place', problem: undefined, isUnwanted: false })
  assert.equal(machine.length, 0, 'looking changes nothing')
  await Promise.all([swap.prepare(), swap.prepare()])
  assert.equal(kind.makes, 1)
  machine[0] = device('/dev/ours', GB)
  await swap.release()
  assert.equal(machine.length, 1, 'another server uses it')
  machine[0] = device('/dev/ours', 2 ** 20)
  await swap.release()
  assert.equal(machine.length, 0)
})

test('the first kind that the machine has is taken, and without any the reasons are named', async () => {
  const machine: SwapDevice[] = []
  const kinds = [new ListedKind(machine, 'no zram'), new ListedKind(machine)]
  await place(kinds, machine).prepare()
  assert.deepEqual(
    kinds.map(({ makes }) => makes),
    [0, 1],
  )
  const none = place([kinds[0]!, new ListedKind(machine, 'no dm-crypt')], machine)
  assert.deepEqual(none.report, { place: undefined, problem: 'no zram; no dm-crypt', isUnwanted: false })
  await assert.rejects(none.prepare(), /no zram; no dm-crypt/)
  assert.deepEqual(none.room, { freeBytes: 0, totalBytes: 0 })
})

test('nothing is moved while the machine has swap that nobody allowed, also when it comes later', async () => {
  const machine: SwapDevice[] = []
  const kind = new ListedKind(machine)
  const swap = place([kind], machine)
  await swap.prepare()
  machine.push(device('/dev/sda2'))
  assert.match(
    swap.report.problem!,
    /also swaps to \/dev\/sda2.*BERTH_DEEP_STANDBY_SWAP.*swapoff \/dev\/sda2/,
  )
  await assert.rejects(swap.prepare(), /\/dev\/sda2/)
  machine.pop()
  await swap.prepare()
  machine.length = 0
  machine.push(device('/dev/sda2'))
  await assert.rejects(place([kind], machine).prepare(), /\/dev\/sda2/)
  assert.equal(kind.makes, 1, 'and then nothing is made')
})

test('devices that the operator named are used, and only if they are all', async () => {
  const machine = [device('/dev/sda2', GB)]
  const allowed = () => new OperatorsSwap(['/dev/sda2'], () => machine)
  const swap = place([allowed()], machine)
  await swap.prepare()
  assert.deepEqual(swap.room, { totalBytes: 4 * GB, freeBytes: 3 * GB })
  await swap.release()
  assert.equal(machine.length, 1, 'it is not ours to turn off')
  machine.push(device('/dev/sdb1'))
  await assert.rejects(swap.prepare(), /\/dev\/sdb1/)
  machine.length = 0
  assert.match(place([allowed()], machine).report.problem!, /none of \/dev\/sda2 is in use: run swapon/)
})

test('a device that cannot be made turns deep standby off, and says why', async () => {
  const machine: SwapDevice[] = []
  const kind = new ListedKind(machine)
  kind.fails = true
  const swap = place([kind], machine)
  await assert.rejects(swap.prepare(), /no such thing/)
  assert.match(swap.report.problem!, /a place cannot be made: no such thing/)
  await assert.rejects(swap.prepare(), /no such thing/)
  assert.equal(kind.makes, 1, 'it is not tried again and again')
})

test('what the operator turned off is no problem', () => {
  const { report } = place([], [], { isUnwanted: true })
  assert.equal(report.isUnwanted, true)
  assert.match(report.problem!, /turned off/)
})

test('reads how much memory zram takes, and how much it may take', () => {
  const text = '  4096  74  12288 1048576 12288 0 0 0 0\n'
  assert.deepEqual(readUse(text), { usedBytes: 12288, limitBytes: 1048576 })
})

test('the swap file has a random key that is nowhere but in the kernel', () => {
  const args = cryptsetupArguments('/file')
  assert.equal(args[args.indexOf('--key-file') + 1], '/dev/urandom')
  assert.equal(args[args.indexOf('--type') + 1], 'plain', 'no header that could keep a key')
})
