import type { ChildProcess, StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import type { Socket } from 'node:net'
import type { Pipes } from './pipes.ts'
import { cannotRun, type Program } from './program.ts'
import { spawnAsUser } from '../../user/user.ts'

export type SignalName = 'TERM' | 'KILL' | 'INT' | 'HUP'

export interface StartedProgram {
  readonly pid: number
  /** The exit code as in a shell: 128 plus the signal's number if a signal ended it. */
  readonly exited: Promise<number>
  readonly stdio: ChildProcess['stdio']
}

/** The program leads its own session and process group. */
export async function startProgram(program: Program, stdio: StdioOptions): Promise<StartedProgram> {
  const { file, args, directory, environment } = program
  let child: ChildProcess
  try {
    child = spawnAsUser(file, args, { cwd: directory, env: environment, stdio, detached: true })
  } catch (error) {
    throw cannotRun(program, (error as NodeJS.ErrnoException).code)
  }
  const { pid, stdio: streams } = child
  if (pid !== undefined) {
    // Listens at once, because a short program may end before anything else runs.
    const exited = new Promise<number>((resolve) => {
      child.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal!]))
    })
    return { pid, exited, stdio: streams }
  }
  const [error] = (await once(child, 'error')) as [NodeJS.ErrnoException]
  throw cannotRun(program, error.code)
}

export interface PipedProgram {
  readonly started: StartedProgram
  readonly stdout: Socket
  readonly stderr: Socket
  /** Undefined if the program has no input. */
  readonly stdin: Socket | undefined
}

export async function startPiped(
  program: Program,
  { pipes, hasStdin }: { pipes: Pipes; hasStdin: boolean },
): Promise<PipedProgram> {
  const open = await pipes.open({ outputs: 2, inputs: hasStdin ? 1 : 0 }).catch((error: unknown) => {
    // Creating pipes starts a program too, and can fail for the same reasons.
    const { code } = error as NodeJS.ErrnoException
    throw code === 'ENOENT' ? error : cannotRun(program, code ?? 'EAGAIN')
  })
  const [stdout, stderr, stdin] = open.ours as [Socket, Socket, Socket?]
  const [out, err, input] = open.theirs
  try {
    const started = await startProgram(program, [input ?? 'ignore', out, err])
    return { started, stdout, stderr, stdin }
  } catch (error) {
    open.destroy()
    throw error
  } finally {
    open.handedOver()
  }
}

/** Signals every remaining process of the group. */
export function signalGroup(pid: number, signal: SignalName): void {
  try {
    process.kill(-pid, `SIG${signal}`)
  } catch {
    // Already gone.
  }
}
