// Programs of the system that change its swap. What they print is the reason when they fail.
import { execFile } from 'node:child_process'
import { basename } from 'node:path'
import { promisify } from 'node:util'
import { findProgram } from '../programs.ts'

const WITHIN_MS = 120_000
const execute = promisify(execFile)

export async function runProgram(name: string, args: readonly string[]): Promise<void> {
  const path = findProgram(name)
  if (path === undefined) throw new Error(`the program "${name}" is missing`)
  try {
    await execute(path, [...args], { env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' }, timeout: WITHIN_MS })
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string }
    throw new Error(`${basename(path)} failed: ${stderr?.trim() || message}`, { cause: error })
  }
}
