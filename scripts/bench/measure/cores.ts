// Client and server on different cores, in both arms alike. PostgreSQL shares the client's core:
// both arms use the very same PostgreSQL, and the server under test then has a core to itself, so
// that requests a second say what the server costs and not how three processes share two cores.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

export interface Cores {
  readonly client: number
  readonly server: number
}

export function chooseCores(): Cores {
  const [client = 0, server = client] = allowedCores()
  return { client, server }
}

/** `0-1,4` in the words of the kernel; a container may have been given any of them. */
function allowedCores(): number[] {
  const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0'
  return list.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, index) => first + index)
  })
}

/** Moves all threads of the processes; whatever they start later follows them. */
export function pin(pids: readonly number[], core: number): void {
  for (const pid of pids) {
    execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', String(core), String(pid)], {
      stdio: 'ignore',
    })
  }
}
