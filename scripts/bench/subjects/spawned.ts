// Programs that do one thing on a display and end; a simple server would spawn one for every action.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'
import { findProgram } from '@berth/server/instances/local/programs'
import type { CoreList } from '../measure/cores.ts'

export interface Place {
  readonly display: string
  readonly cores: CoreList
}

export function whyNoProgram(name: string): string | undefined {
  return findProgram(name) ? undefined : `${name} is not installed`
}

/** Runs on the server's core and resolves with the output. */
export async function runOn(
  { display, cores }: Place,
  command: string,
  args: readonly string[],
): Promise<Buffer> {
  const child = spawn('taskset', ['--cpu-list', cores, findProgram(command)!, ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { PATH: '/usr/bin:/bin', HOME: '/nonexistent', DISPLAY: display },
  })
  const [printed, [code]] = await Promise.all([
    buffer(child.stdout),
    once(child, 'exit') as Promise<[number | null]>,
  ])
  assert.equal(code, 0, `${command} ended with code ${code}`)
  return printed
}
