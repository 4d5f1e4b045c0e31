// What of an instance is on the host's disk. Only the server writes here; the tenant sees pub/, read-only.
//
//   <data directory>/instances/           0711, root
//     .lock                               held by the server, see instances-lock.ts
//     .shared/                            files that all instances see
//     <id>/                               0711, root: the instance's uid must pass through, not look
//       instance.json                     0600
//       stderr                            0600, a fifo
//       pub/                              0711; /run/berth inside
//         link.sock egress.sock           root:<uid>, 0660
import {
  chmodSync,
  chownSync,
  mkdirSync,
  openSync,
  closeSync,
  readFileSync,
  readdirSync,
  renameSync,
} from 'node:fs'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface InstanceRecord {
  readonly id: string
  /** Undefined when the server is an ordinary user, and the instance is the same. */
  readonly uid: number | undefined
}

/** The kernel's limit for socket paths is 107 bytes. */
const MAX_SOCKET_PATH_LENGTH = 107

export function isInstanceId(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name)
}

export class InstanceDirectory {
  readonly path: string
  readonly pub: string
  readonly stderr: string
  #pubDescriptor: number | undefined

  constructor(instancesDir: string, id: string) {
    this.path = join(instancesDir, id)
    this.pub = join(this.path, 'pub')
    this.stderr = join(this.path, 'stderr')
  }

  /** The ids of what has a directory, whole or not. */
  static list(instancesDir: string): string[] {
    return readdirSync(instancesDir).filter(isInstanceId)
  }

  /**
   * Before anything else of the instance is made. It needs to outlive this process, not a loss of
   * power: that ends the instance too, and a directory without a whole record counts as remains.
   */
  make(record: InstanceRecord): void {
    mkdirSync(this.path)
    makePassable(this.path)
    const unfinished = join(this.path, 'instance.json.new')
    writeFileSync(unfinished, JSON.stringify(record), { mode: 0o600 })
    renameSync(unfinished, join(this.path, 'instance.json'))
    mkdirSync(this.pub)
    makePassable(this.pub)
  }

  readRecord(): InstanceRecord | undefined {
    try {
      const record = JSON.parse(readFileSync(join(this.path, 'instance.json'), 'utf8')) as InstanceRecord
      return typeof record.id === 'string' ? record : undefined
    } catch {
      return undefined
    }
  }

  /** Where to listen for a socket in pub/; what an earlier server left there is removed. */
  socketPath(name: string): string {
    const path = join(this.pub, name)
    rmSync(path, { force: true })
    if (Buffer.byteLength(path) <= MAX_SOCKET_PATH_LENGTH) return path
    this.#pubDescriptor ??= openSync(this.pub, 'r')
    return `/proc/${process.pid}/fd/${this.#pubDescriptor}/${name}`
  }

  /** Lets the instance, and no other, connect to the socket. */
  admit(name: string, uid: number | undefined): void {
    const path = join(this.pub, name)
    if (uid !== undefined) chownSync(path, 0, uid)
    chmodSync(path, uid === undefined ? 0o600 : 0o660)
  }

  close(): void {
    if (this.#pubDescriptor !== undefined) closeSync(this.#pubDescriptor)
    this.#pubDescriptor = undefined
  }

  remove(): void {
    this.close()
    rmSync(this.path, { recursive: true, force: true })
  }
}

/** Whatever the umask says. */
export function makePassable(path: string): void {
  chmodSync(path, 0o711)
}
