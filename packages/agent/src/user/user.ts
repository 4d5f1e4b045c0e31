// The user as whom the tenant's programs run. Every program is started here: one that ran with the agent's own uid
// could take the agent over.
import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'

/** On the global object: rarely used parts of the agent are bundles of their own, each with a copy of this module. */
const KEY = Symbol.for('berth.user')
const shared = globalThis as { [KEY]?: Uids }

/** Each is also a gid. */
interface Uids {
  readonly user: number
  readonly app: number
}

export interface User {
  readonly username: string
  readonly uid: number
  readonly gid: number
}

/** Called before any program is started, when the agent's uid is not the user's. */
export function setUids(uids: Uids): void {
  shared[KEY] = uids
}

/** Whether invocations of an app have a uid other than that of its files. */
export const hasAppUid = (): boolean => shared[KEY] !== undefined

export function spawnAsUser(command: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  return spawnAs(shared[KEY]?.user, command, args, options)
}

export function spawnAsApp(command: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  return spawnAs(shared[KEY]?.app, command, args, options)
}

/** The user, in a group in which nothing else of the user's is: so the kernel knows which connections pages open. */
export function spawnAsBrowser(
  command: string,
  args: readonly string[],
  options: SpawnOptions,
): ChildProcess {
  const { [KEY]: uids } = shared
  return spawn(command, args, { ...options, ...(uids && { uid: uids.user, gid: uids.app }) })
}

function spawnAs(
  id: number | undefined,
  command: string,
  args: readonly string[],
  options: SpawnOptions,
): ChildProcess {
  return spawn(command, args, { ...options, ...(id !== undefined && { uid: id, gid: id }) })
}

export function user(): User {
  const id = shared[KEY]?.user
  if (id === undefined) return userInfo()
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
  const username = lines.find((line) => line.split(':')[2] === String(id))?.split(':')[0]
  return { username: username ?? String(id), uid: id, gid: id }
}
