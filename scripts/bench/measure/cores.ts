// Client and server run on different cores, on both sides. PostgreSQL shares the client's core. The server under
// test has a core to itself, so requests per second show what the server costs and not how three processes share
// two cores.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** As taskset writes it, such as `1` or `0,1`. */
export type CoreList = string

export interface Cores {
  readonly client: CoreList
  readonly server: CoreList
  readonly all: CoreList
}

/** A run without verdicts uses all cores, to finish sooner. */
export function chooseCores({ isJudged }: { isJudged: boolean }): Cores {
  const all = allowedCores()
  const [client = 0, server = client] = all
  return { client: String(client), server: isJudged ? String(server) : all.join(','), all: all.join(',') }
}

/** The kernel writes `0-1,4`; a container may have any of the cores. */
function allowedCores(): number[] {
  const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0'
  return list.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, index) => first + index)
  })
}

/**
 * Runs `work` while the kernel places client and servers freely. Pinned, the server, agent and browser share
 * one core and never run in parallel; this shows the difference.
 */
export async function onFreeCores<T>(
  cores: Cores,
  servers: () => readonly number[],
  work: () => Promise<T>,
): Promise<T> {
  pin([process.pid, ...servers()], cores.all)
  try {
    return await work()
  } finally {
    pin([process.pid], cores.client)
    // Asked again, because the work may have replaced processes, such as warm instances.
    pin(servers(), cores.server)
  }
}

/** Moves all threads of the processes. Processes that they start later inherit the cores. */
export function pin(pids: readonly number[], cores: CoreList): void {
  for (const pid of pids) {
    execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', cores, String(pid)], {
      stdio: 'ignore',
    })
  }
}
