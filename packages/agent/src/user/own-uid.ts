// The agent's uid is its own, so that nothing the tenant runs can signal, trace or impersonate it. It starts as root of
// the instance's user namespace, with a few capabilities. On files it acts as the user: whatever it opens, makes or
// removes, the kernel treats it as the tenant. That identity (fsuid) belongs to a thread, and threads inherit it, so it
// is set before Node starts any that touches files. Node has no call for it, so a native library makes it.
import { chownSync } from 'node:fs'
import type { NativeCalls } from './native-calls.ts'

const CHOWN = 0
const KILL = 5
const SETGID = 6
const SETUID = 7
const SETPCAP = 8
const NET_ADMIN = 12
const SYS_NICE = 23
const PR_CAPBSET_DROP = 24
const CAPABILITY_VERSION_3 = 0x20080522

export interface OwnUid {
  /** The uid and gid of the tenant. */
  readonly user: number
  /** What the tenant owns from now on. */
  readonly directories: readonly string[]
  readonly calls: NativeCalls
  /** To decide about the connections of its network, which needs a capability. */
  readonly hasNetwork: boolean
}

export function keepOwnUid({ user, directories, calls, hasNetwork }: OwnUid): void {
  for (const directory of directories) chownSync(directory, user, user)
  const { prctl, capset, setfsuid, setfsgid } = calls
  // Nothing that is started can get these back.
  for (const capability of [CHOWN, KILL, SETGID, SETUID, SETPCAP, NET_ADMIN, SYS_NICE]) {
    prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
  }
  setfsgid(user)
  setfsuid(user)
  const wanted = [KILL, SETGID, SETUID, SYS_NICE, ...(hasNetwork ? [NET_ADMIN] : [])]
  const kept = wanted.reduce((set, capability) => set | (1 << capability), 0)
  // They return the identity before; a value that no user has changes nothing.
  const isDone = capset(header(), sets(kept)) === 0 && setfsuid(-1) === user && setfsgid(-1) === user
  if (!isDone) throw new Error('Cannot act as the user: the system refuses it')
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
