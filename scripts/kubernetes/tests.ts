// Runs the files of tests, or the bench, on a cluster.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { bundlePrograms } from '../../tests/fixtures/programs.ts'
import { SHARED_POSTGRES, startSharedPostgres } from '../../tests/fixtures/shared-postgres.ts'
import type { Command } from './commands.ts'

/** Beside the files of a cluster that stays: the variables of its tests. */
export const ENVIRONMENT = 'environment.json'

/** What all files use. It ends with this process, so it is made outside of the namespaces of the cluster. */
export async function prepareTests(): Promise<void> {
  await bundlePrograms()
  process.env[SHARED_POSTGRES] = await startSharedPostgres()
}

export interface Work {
  readonly root: string
  /** Of Node. */
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** A command that executes the rest of its arguments. */
  readonly prefix?: Command
}

/** One file after another: they share the cluster, and some of them fill it or break it. */
export function testArgs(files: readonly string[]): string[] {
  return ['--test', '--test-concurrency=1', ...files]
}

const BENCH = 'scripts/bench/main.ts'

/** The rows that need a cluster. */
export function benchArgs({
  rows = '38,39',
  isQuick,
}: {
  rows?: string | undefined
  isQuick: boolean
}): string[] {
  return [BENCH, '--rows', rows, ...(isQuick ? ['--quick'] : [])]
}

/**
 * The bench compares with a server whose sessions are on this machine. The cluster has files over settings in /proc, and
 * with those the kernel lets no sandbox have a /proc of its own.
 */
const withOwnProc: Command = ['unshare', '--mount', 'sh', '-c', 'mount -t proc proc /proc && exec "$@"', 'sh']

/** Returns the exit code. */
export async function runWork({ root, args, env, prefix = ['env'] }: Work): Promise<number> {
  const isBench = args[0] === BENCH && process.getuid!() === 0
  const [program, ...before] = isBench ? [...prefix, ...withOwnProc] : prefix
  const child = spawn(program, [...before, process.execPath, ...args], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  })
  const [code] = (await once(child, 'exit')) as [number | null]
  return code ?? 1
}
