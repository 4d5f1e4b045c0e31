// Runs a suite's runner to its end. Its exit code says whether tests failed, which its report says better.
import { spawn } from 'node:child_process'

export interface RunOptions {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

export function runProgram(
  program: string,
  args: readonly string[],
  { cwd, env }: RunOptions,
): Promise<void> {
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const end = () => void child.kill()
  process.once('exit', end)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  child.once('error', reject)
  child.once('exit', (_code, signal) => {
    if (signal === null) resolve()
    else reject(new Error(`${program} was ended by ${signal}`))
  })
  return promise.finally(() => process.off('exit', end))
}
