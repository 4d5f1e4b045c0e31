// Where the files of instances are on the host. Whatever is bound into an instance has its path on the host in
// /proc/self/mountinfo there, and open files have theirs in /proc/self/fd. So the path must say nothing about the data
// directory, the checkout or the people who own them.
import { createHash } from 'node:crypto'
import { accessSync, constants, existsSync, mkdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { InstanceDirectory, makePassable } from './instance-directory.ts'

const RUN = '/run/berth'
const isRoot = process.getuid?.() === 0

/** Tells data directories apart. Not for instances to see: whoever guesses the path can check it. */
export function keyOf(dataDir: string): string {
  return hashOf(realpathSync(dataDir))
}

/** In the data directory where it cannot be elsewhere: for an ordinary user, or where /run is read-only. */
export function instancesDirOf(dataDir: string): string {
  const place = join(RUN, hashOf(`${machineId()}\n${realpathSync(dataDir)}`))
  // Root may have made it for somebody who is not root.
  return existsSync(place) || canUseRun() ? place : formerInstancesDirOf(dataDir)
}

/** Where earlier versions had them. The lock is there still, so that no such version runs beside this one. */
export function formerInstancesDirOf(dataDir: string): string {
  return join(realpathSync(dataDir), 'instances')
}

/** Call once the instances that an earlier version left have been ended. */
export function removeFormerInstances(dataDir: string): void {
  const former = formerInstancesDirOf(dataDir)
  if (former === instancesDirOf(dataDir)) return
  for (const id of InstanceDirectory.list(former)) rmSync(join(former, id), { recursive: true, force: true })
}

/** Call with the lock, when no instance is left. */
export function removeInstancesDir(instancesDir: string): void {
  if (dirname(instancesDir) === RUN) rmSync(instancesDir, { recursive: true, force: true })
}

/** Secret to instances, so that they cannot check a guess. Some containers have none. */
function machineId(): string {
  try {
    return readFileSync('/etc/machine-id', 'utf8')
  } catch {
    return ''
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

function canUseRun(): boolean {
  if (!isRoot) return false
  try {
    if (mkdirSync(RUN, { recursive: true }) !== undefined) makePassable(RUN)
    accessSync(RUN, constants.W_OK)
    return true
  } catch {
    return false
  }
}
