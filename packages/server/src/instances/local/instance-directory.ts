// An instance's files on the host. Only the server writes here; the tenant sees pub/, read-only.
//
//   <data directory>/instances/           0711, root
//     .lock                               held by the server, see instances-lock.ts
//     .shared/                            files that all instances see
//     <id>/                               0711, root: the instance's uid may pass, but not list
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
  /** Undefined when the server is not root; the instance then has the server's uid. */
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

  /** The ids with a directory, complete or not. */
  static list(instancesDir: string): string[] {
    return readdirSync(instancesDir).filter(isInstanceId)
  }

  /**
   * Must be called before anything else of the instance is created. The record must survive this process, but not a
   * power cut, which ends the instance too. A directory without a complete record counts as leftovers.
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

  /** The path of a socket in pub/; removes what an earlier server left there. */
  socketPath(name: string): string {
    const path = join(this.pub, name)
    rmSync(path, { force: true })
    if (Buffer.byteLength(path) <= MAX_SOCKET_PATH_LENGTH) return path
    this.#pubDescriptor ??= openSync(this.pub, 'r')
    return `/proc/${process.pid}/fd/${this.#pubDescriptor}/${name}`
  }

  /** Allows only this instance to connect to the socket. */
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

/** Independent of the umask. */
export function makePassable(path: string): void {
  chmodSync(path, 0o711)
}
