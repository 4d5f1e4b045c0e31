// How a program of an app is started: in a pid namespace of its own, so that all it starts ends with it and it can
// signal nobody else; with limits of its own; and first in line when the memory of the instance is full.
import type { ChildProcess, StdioOptions } from 'node:child_process'
import { spawnAsApp, spawnAsUser } from '../../user/user.ts'

const MiB = 1024 * 1024
/** What a Node maps and never uses: the stacks of its threads and the like. Others have less. */
const MAPPED_MB = 768
const MAX_FILES = 4096
/** Threads are counted, too. */
const MAX_PROCESSES = 512

// One stream for both, so that lines stay in order.
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

/** With it, all in its namespace. */
export function killConfined({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // Gone already.
  }
}
