// Client and server on different cores, in both arms alike. PostgreSQL shares the client's core:
// both arms use the very same PostgreSQL, and the server under test then has a core to itself, so
// that requests a second say what the server costs and not how three processes share two cores.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** In the words of taskset, such as `1` or `0,1`. */
export type CoreList = string

export interface Cores {
  readonly client: CoreList
  readonly server: CoreList
  readonly all: CoreList
}

/** Where nothing is judged, servers may use all there are and are done sooner. */
export function chooseCores({ isJudged }: { isJudged: boolean }): Cores {
  const all = allowedCores()
  const [client = 0, server = client] = all
  return { client: String(client), server: isJudged ? String(server) : all.join(','), all: all.join(',') }
}

/** `0-1,4` in the words of the kernel; a container may have been given any of them. */
function allowedCores(): number[] {
  const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0'
  return list.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, index) => first + index)
  })
}

/**
 * Does something with client and servers on whatever core the kernel gives them. With two cores, server,
 * agent and browser share one of them, and nothing of theirs is ever done side by side; this tells how it
 * is when it may be.
 */
export async function onFreeCores<T>(
  cores: Cores,
  servers: readonly number[],
  work: () => Promise<T>,
): Promise<T> {
  pin([process.pid, ...servers], cores.all)
  try {
    return await work()
  } finally {
    pin([process.pid], cores.client)
    pin(servers, cores.server)
  }
}

/** Moves all threads of the processes; whatever they start later follows them. */
export function pin(pids: readonly number[], cores: CoreList): void {
  for (const pid of pids) {
    execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', cores, String(pid)], {
      stdio: 'ignore',
    })
  }
}
