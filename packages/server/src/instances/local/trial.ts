// Runs a program in a sandbox like that of any instance, to find out what works on this host.
import { once } from 'node:events'
import { newId } from '@berth/kit/ids'
import type { InstanceLimits } from '../driver/driver.ts'
import type { Cgroups } from './cgroup.ts'
import type { Gpu } from './gpu/find-gpus.ts'
import { InstanceDirectory } from './instance-directory.ts'
import { spawnInstance, type Host } from './launch.ts'
import { makeFifos, StderrFifo } from './stderr-fifo.ts'

export interface Trial {
  readonly host: Host
  readonly cgroups: Cgroups
  readonly uid: number | undefined
}

export interface TrialRun {
  readonly command: readonly string[]
  readonly limits: InstanceLimits
  readonly gpu?: Gpu
  readonly withinMs: number
}

export interface TrialResult {
  readonly code: number | null
  /** The end of what it wrote to stderr. */
  readonly output: string
}

/** Rejects when the program could not be started, or did not end in time. */
export async function runTrial({ host, cgroups, uid }: Trial, run: TrialRun): Promise<TrialResult> {
  const { command, limits, gpu, withinMs } = run
  const id = newId('trial-')
  const directory = new InstanceDirectory(host.instancesDir, id)
  const cgroup = cgroups.find(id)
  let stderr: StderrFifo | undefined
  try {
    directory.make({ id, uid, hasNetwork: false })
    await makeFifos({ mkfifo: host.programs.mkfifo, paths: directory.fifos })
    stderr = StderrFifo.open(directory.stderr)
    const { entrances } = await cgroups.create(id, limits)
    const { homeBytes } = limits
    const child = stderr.lend((descriptor) =>
      spawnInstance(host, {
        id,
        uid,
        entrances,
        command,
        homeBytes,
        ...(gpu && { gpu }),
        stderr: descriptor,
        report: directory.report,
      }),
    )
    child.ref()
    const [code] = (await once(child, 'exit', { signal: AbortSignal.timeout(withinMs) })) as [number | null]
    return { code, output: stderr.drain() }
  } finally {
    stderr?.close()
    await cgroup.kill()
    await cgroup.remove()
    directory.remove()
  }
}
