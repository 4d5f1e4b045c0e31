// A container sees its control groups read-only. One that may mount can change that for itself, which is less than what
// people do otherwise: give it all control groups of the machine.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { isInImage } from '@berth/kit/in-image'
import { findProgram } from './programs.ts'

/** Leaves them as they are where this is not allowed: then limits are missing, and the server says so. */
export function makeCgroupsWritable(): void {
  const mount = findProgram('mount')
  if (!isInImage || mount === undefined) return
  for (const point of readOnlyCgroups(readFileSync('/proc/self/mountinfo', 'utf8'))) {
    try {
      execFileSync(mount, ['-o', 'remount,bind,rw', point], { stdio: 'ignore', env: {} })
    } catch {
      return
    }
  }
}

/** `36 25 0:32 /root /point ro,relatime shared:1 - type source options`, see proc_pid_mountinfo(5). */
export function readOnlyCgroups(mountinfo: string): string[] {
  return mountinfo.split('\n').flatMap((line) => {
    const [place = '', filesystem = ''] = line.split(' - ')
    const [, , , , point, options = ''] = place.split(' ')
    const isCgroup = /^cgroup2? /.test(filesystem)
    return isCgroup && point !== undefined && options.split(',').includes('ro') ? [point] : []
  })
}
