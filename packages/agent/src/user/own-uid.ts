// The agent's uid is its own, so that nothing the tenant runs can signal, trace or impersonate it. It starts as root of
// the instance's user namespace, with a few capabilities. On files it acts as the user: whatever it opens, makes or
// removes, the kernel treats it as the tenant. That identity (fsuid) belongs to a thread, and threads inherit it, so it
// is set before Node starts any that touches files. Node has no call for it, so a native library makes it.
import { chownSync } from 'node:fs'

const CHOWN = 0
const KILL = 5
const SETGID = 6
const SETUID = 7
const SETPCAP = 8
const SYS_NICE = 23
const PR_CAPBSET_DROP = 24
const CAPABILITY_VERSION_3 = 0x20080522

export interface OwnUid {
  /** The uid and gid of the tenant. */
  readonly user: number
  /** What the tenant owns from now on. */
  readonly directories: readonly string[]
  /** koffi's native file. */
  readonly nativeCalls: string
}

interface NativeCalls {
  readonly prctl: (option: number, value: number, third: number, fourth: number, fifth: number) => number
  readonly capset: (header: Buffer, data: Buffer) => number
  readonly setfsuid: (uid: number) => number
  readonly setfsgid: (gid: number) => number
}

/** The little of it that is used here. */
interface Koffi {
  load(library: string): { func(prototype: string): (...values: unknown[]) => number }
}

export function keepOwnUid({ user, directories, nativeCalls }: OwnUid): void {
  for (const directory of directories) chownSync(directory, user, user)
  const { prctl, capset, setfsuid, setfsgid } = load(nativeCalls)
  // Nothing that is started can get these back.
  for (const capability of [CHOWN, KILL, SETGID, SETUID, SETPCAP, SYS_NICE]) {
    prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
  }
  setfsgid(user)
  setfsuid(user)
  const kept = [KILL, SETGID, SETUID, SYS_NICE].reduce((set, capability) => set | (1 << capability), 0)
  // They return the identity before; a value that no user has changes nothing.
  const isDone = capset(header(), sets(kept)) === 0 && setfsuid(-1) === user && setfsgid(-1) === user
  if (!isDone) throw new Error('Cannot act as the user: the system refuses it')
}

function load(path: string): NativeCalls {
  const module = { exports: {} as Koffi }
  process.dlopen(module, path)
  const libc = module.exports.load('libc.so.6')
  return {
    prctl: libc.func('int prctl(int, unsigned long, unsigned long, unsigned long, unsigned long)'),
    capset: libc.func('int capset(void *, void *)'),
    setfsuid: libc.func('int setfsuid(int)'),
    setfsgid: libc.func('int setfsgid(int)'),
  }
}

/** struct __user_cap_header_struct, for the calling thread. */
function header(): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt32LE(CAPABILITY_VERSION_3, 0)
  return bytes
}

/** Two of struct __user_cap_data_struct: effective and permitted; nothing is inheritable. */
function sets(capabilities: number): Buffer {
  const bytes = Buffer.alloc(24)
  bytes.writeUInt32LE(capabilities, 0)
  bytes.writeUInt32LE(capabilities, 4)
  return bytes
}
