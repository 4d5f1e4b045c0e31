// Makes the machine ready for deep standby: loads what the kernel needs for compressed swap in memory, or else for an
// encrypted swap file. The server makes the swap itself, when the first session needs it, and turns it off again.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

/** Undefined when nothing is missing, or nobody wants it. Otherwise a package that the set-up should install. */
export function packageForDeepStandby({ wanted, modprobe = loadModule, say }) {
  if (wanted === 'off' || wanted.startsWith('/')) return undefined
  if (wanted !== 'file') {
    if (hasZram()) return undefined
    if (modprobe('zram', 'num_devices=0') && hasZram()) {
      say('loaded the kernel module zram, with which sessions on standby give their memory back')
      return undefined
    }
    if (wanted === 'zram') return lacks('the kernel has no zram', say)
  }
  if (!hasDeviceMapper() && !(modprobe('dm-crypt') && hasDeviceMapper())) {
    return lacks('the kernel has neither zram nor dm-crypt', say)
  }
  return { package: 'cryptsetup-bin', command: 'cryptsetup', isOptional: true }
}

function lacks(what, say) {
  say(`sessions on standby keep their memory, because ${what}; see deep standby in docs/operating.md`)
  return undefined
}

const hasZram = () => existsSync('/sys/class/zram-control')

function hasDeviceMapper() {
  try {
    return readFileSync('/proc/misc', 'utf8').includes('device-mapper')
  } catch {
    return false
  }
}

function loadModule(...args) {
  const { status } = spawnSync('modprobe', args, {
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    stdio: 'ignore',
  })
  return status === 0
}
