// Turns an API request for a program into the command that runs.
import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { user as tenant } from '../../user/user.ts'
import { ControlError } from '../calls/operation.ts'

/** The fields that exec and spawn share in the contract. */
export interface ProgramRequest {
  readonly command: string
  readonly args?: readonly string[]
  readonly cwd?: string | null
  readonly env?: Readonly<Record<string, string>>
  readonly as_user?: string | null
  readonly as_root?: boolean
  readonly timeout_sec?: number | null
}

export interface Program {
  /** The requested name, for messages. */
  readonly name: string
  readonly file: string
  readonly args: readonly string[]
  readonly directory: string
  readonly environment: Readonly<Record<string, string>>
}

export interface Surroundings {
  readonly home: string
  readonly environment: Readonly<Record<string, string>>
}

/** Creates a user namespace in which the program is uid 0, then becomes the program: no process stays in between. */
const AS_ROOT = ['/usr/bin/unshare', '--user', '--map-root-user', '--'] as const

export function toProgram(asked: ProgramRequest, { home, environment }: Surroundings): Program {
  refuseOtherUser(asked)
  const program = {
    name: asked.command,
    file: asked.command,
    args: asked.args ?? [],
    directory: asked.cwd ?? home,
    environment: { ...environment, ...asked.env },
  }
  refuseNul(program)
  if (!asked.as_root) return program
  checkRunnable(program)
  const [file, ...args] = AS_ROOT
  return { ...program, file, args: [...args, asked.command, ...program.args] }
}

function refuseOtherUser({ as_user: user, as_root: isRoot }: ProgramRequest): void {
  if (user === undefined || user === null) return
  if (isRoot) throw new ControlError('bad_request', 'Cannot use as_user and as_root together: choose one')
  const { username, uid, gid } = tenant()
  const own = [username, String(uid), `${uid}:${gid}`, `${username}:${username}`]
  if (own.includes(user)) return
  throw new ControlError(
    'bad_request',
    `Cannot run as "${user}": the only user of the instance is "${username}"; for root use as_root`,
  )
}

const hasNul = (text: string) => text.includes('\0')

/** The kernel stops reading at a NUL, so it would run something other than requested. */
function refuseNul({ file, args, directory, environment }: Program): void {
  if (hasNul(file) || args.some(hasNul) || hasNul(directory)) {
    throw new ControlError('bad_request', 'Cannot run a program with a NUL in its command, args or cwd')
  }
  for (const [name, value] of Object.entries(environment)) {
    if (name === '' || name.includes('=') || hasNul(name) || hasNul(value)) {
      const shown = JSON.stringify(name.slice(0, 100))
      throw new ControlError(
        'bad_request',
        `Cannot set the variable ${shown}: it has no name, a "=" or a NUL`,
      )
    }
  }
}

/** For anybody. */
const EXECUTABLE = 0o111

/** For programs started through a wrapper, which could report a failure only by its exit code. */
export function checkRunnable(program: Program): void {
  checkDirectory(program)
  const { file, directory, environment } = program
  const places = file.includes('/')
    ? [resolve(directory, file)]
    : (environment['PATH'] ?? '').split(':').map((place) => join(resolve(directory, place), file))
  let found: NodeJS.ErrnoException | undefined
  for (const place of places) {
    try {
      // Not access(), which asks on behalf of the agent's own uid.
      const stats = statSync(place)
      if (stats.isFile() && (stats.mode & EXECUTABLE) !== 0) return
      found = Object.assign(new Error(), { code: 'EACCES' })
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code !== 'ENOENT') found = error as NodeJS.ErrnoException
    }
  }
  throw cannotRun(program, found?.code ?? 'ENOENT')
}

function checkDirectory({ directory }: Program): void {
  const stats = statSync(directory, { throwIfNoEntry: false })
  if (!stats)
    throw new ControlError('bad_request', `Cannot run in "${directory}": there is no such directory`)
  if (!stats.isDirectory()) {
    throw new ControlError('bad_request', `Cannot run in "${directory}": it is not a directory`)
  }
}

/** Turns an operating system error into an API error. */
export function cannotRun(program: Program, code: string | undefined): ControlError {
  const { name } = program
  const refuse = (why: string) => new ControlError('bad_request', `Cannot run "${name}": ${why}`)
  switch (code) {
    case 'ENOENT':
      // ENOENT may mean the program or the directory.
      checkDirectory(program)
      return refuse('there is no such program')
    case 'EACCES':
      return refuse('it is not a program that may be run')
    case 'E2BIG':
      return refuse('its args and env together, or one of them alone, are longer than the system allows')
    case 'EAGAIN':
    case 'ENOMEM':
      return new ControlError(
        'conflict',
        `Cannot run "${name}": the instance has as many processes as it may`,
      )
    case 'EMFILE':
    case 'ENFILE':
      return new ControlError('conflict', `Cannot run "${name}": the instance has too many open files`)
    default:
      return refuse(`the system refuses it with ${code}`)
  }
}
