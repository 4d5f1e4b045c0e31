// Starts a program of an app in its own pid namespace, so that its children end with it and it can signal nobody else.
// The program has its own limits, and the kernel kills it first when the instance runs out of memory.
import type { ChildProcess, StdioOptions } from 'node:child_process'
import { spawnAsApp, spawnAsUser } from '../../user/user.ts'

const MiB = 1024 * 1024
/** Memory that Node reserves but does not use, such as thread stacks. Other programs reserve less. */
const MAPPED_MB = 768
const MAX_FILES = 4096
/** Includes threads. */
const MAX_PROCESSES = 512

// Standard output and error share one stream, so that lines stay in order.
const SCRIPT = `echo 900 > /proc/self/oom_score_adj
exec "$@" 2>&1`

export interface ConfinedOptions {
  readonly command: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly memoryMb: number
  readonly hasChannel: boolean
  /** For an invocation: with a uid that owns none of the app's files. */
  readonly isInvocation: boolean
}

export function spawnConfined(options: ConfinedOptions): ChildProcess {
  const { command, cwd, env, memoryMb, hasChannel, isInvocation } = options
  const limits = [
    `--data=${(memoryMb + MAPPED_MB) * MiB}`,
    `--nofile=${MAX_FILES}`,
    `--nproc=${MAX_PROCESSES}`,
    '--core=0',
  ]
  const unshare = ['/usr/bin/unshare', '--user', '--map-current-user', '--pid', '--fork', '--kill-child=KILL']
  const all = [...unshare, '/usr/bin/prlimit', ...limits, ...command]
  const stdio: StdioOptions = ['ignore', 'pipe', 'ignore', ...(hasChannel ? (['pipe'] as const) : [])]
  const start = isInvocation ? spawnAsApp : spawnAsUser
  return start('/bin/sh', ['-c', SCRIPT, 'sh', ...all], { cwd, env, stdio, detached: true })
}

/** Kills the program and everything in its namespace. */
export function killConfined({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // Gone already.
  }
}
