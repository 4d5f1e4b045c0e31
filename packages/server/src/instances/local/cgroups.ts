// Control groups limit and freeze an instance, and end everything in it reliably. Linux has two kinds,
// v1 and v2, and a host may offer neither; all three cases share one interface.
//
//   <the server's own group>/berth/<hash of the data directory>/<instance id>
import type { Cgroups } from './cgroup.ts'
import { locateCgroups } from './cgroup-location.ts'
import { CgroupsV1 } from './cgroup-v1.ts'
import { CgroupsV2 } from './cgroup-v2.ts'
import { keyOf } from './instances-place.ts'
import { NoCgroups } from './no-cgroups.ts'

export function findCgroups(dataDir: string): Cgroups {
  const name = `berth/${keyOf(dataDir)}`
  const location = locateCgroups('/proc/self')
  if (location.v1.size > 0) {
    const groups = new CgroupsV1(location.v1, name)
    if (groups.parents.length > 0) return groups
  }
  if (location.v2 !== undefined) {
    const groups = CgroupsV2.open(location.v2, name)
    if (groups) return groups
  }
  return new NoCgroups()
}
