// Makes the machine ready for deep standby: loads what the kernel needs for compressed swap in memory, or else for an
// encrypted swap file. The server makes the swap itself, when the first session needs it, and turns it off again.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

/** Returns a package that the set-up should install, if any. `wanted` is BERTH_DEEP_STANDBY_SWAP. */
export function packageForDeepStandby({ wanted, say, machine = thisMachine }) {
  if (wanted === 'off' || wanted.startsWith('/')) return undefined
  const hasZram =
    wanted !== 'file' &&
    has(machine, 'zram', 'zram, with which sessions on standby give their memory back', say)
  if (hasZram) return undefined
  const hasCrypt = wanted !== 'zram' && has(machine, 'dm-crypt', 'dm-crypt, for an encrypted swap file', say)
  if (hasCrypt) return { package: 'cryptsetup-bin', command: 'cryptsetup', isOptional: true }
  const lacks = { zram: 'zram', file: 'dm-crypt' }[wanted] ?? 'zram or dm-crypt'
  say(
    `sessions on standby keep their memory, because the kernel has no ${lacks}; see "Deep standby" in docs/operating.md`,
  )
  return undefined
}

function has(machine, module, what, say) {
  if (machine.has(module)) return true
  if (!machine.load(module) || !machine.has(module)) return false
  say(`loaded the kernel module ${what}`)
  return true
}

const thisMachine = {
  has: (module) => (module === 'zram' ? existsSync('/sys/class/zram-control') : hasDeviceMapper()),
  load: (module) => {
    // Without devices: the server makes its own.
    const args = module === 'zram' ? ['zram', 'num_devices=0'] : [module]
    const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' }
    return spawnSync('modprobe', args, { env, stdio: 'ignore' }).status === 0
  },
}

function hasDeviceMapper() {
  try {
    return readFileSync('/proc/misc', 'utf8').includes('device-mapper')
  } catch {
    return false
  }
}
