import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import type { Socket } from 'node:net'
import type { Pipes } from './pipes.ts'
import { cannotRun, type Program } from './program.ts'

export type SignalName = 'TERM' | 'KILL' | 'INT' | 'HUP'

export interface StartedProgram {
  readonly pid: number
  /** Its exit code, as a shell has it: 128 and the signal's number, if one ended it. */
  readonly exited: Promise<number>
  readonly stdio: ChildProcess['stdio']
}

/** Leads a session and a process group of its own. */
export async function startProgram(program: Program, stdio: StdioOptions): Promise<StartedProgram> {
  const { file, args, directory, environment } = program
  let child: ChildProcess
  try {
    child = spawn(file, args, { cwd: directory, env: environment, stdio, detached: true })
  } catch (error) {
    throw cannotRun(program, (error as NodeJS.ErrnoException).code)
  }
  const { pid, stdio: streams } = child
  if (pid !== undefined) {
    // Listened to at once: a short program may be over before anybody else comes to.
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
  /** Undefined if there is nothing for it to read. */
  readonly stdin: Socket | undefined
}

export async function startPiped(
  program: Program,
  { pipes, hasStdin }: { pipes: Pipes; hasStdin: boolean },
): Promise<PipedProgram> {
  const open = await pipes.open({ outputs: 2, inputs: hasStdin ? 1 : 0 }).catch((error: unknown) => {
    // What makes them is a program, too, and needs what this one needs.
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

/** To all of its group that is left. */
export function signalGroup(pid: number, signal: SignalName): void {
  try {
    process.kill(-pid, `SIG${signal}`)
  } catch {
    // Gone already.
  }
}
