// Limits, freezing and the certain end of everything in an instance, by control groups. Linux has two
// kinds, v1 and v2, and a server may find neither; the three look alike from here.
//
//   <where the server itself is>/berth/<hash of the data directory>/<instance id>
import { createHash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import type { Cgroups } from './cgroup.ts'
import { locateCgroups } from './cgroup-location.ts'
import { CgroupsV1 } from './cgroup-v1.ts'
import { CgroupsV2 } from './cgroup-v2.ts'
import { NoCgroups } from './no-cgroups.ts'

export function findCgroups(dataDir: string): Cgroups {
  const name = `berth/${createHash('sha256').update(realpathSync(dataDir)).digest('hex').slice(0, 16)}`
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
