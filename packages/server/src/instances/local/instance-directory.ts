// An instance's files on the host. Only the driver writes here; the tenant sees pub/, read-only.
//
//   <see instances-place.ts>/             0711, root
//     .shared/                            files that all instances see
//     <id>/                               0711, root: the instance's uid may pass, but not list
//       instance.json                     0600
//       stderr report                     0600, fifos; for report see id-map.ts
//       link.sock                         0600, of the server's account; the agent listens there, see link-socket.ts
//       pub/                              0711; /run/berth inside
//         egress.sock                     root:<uid>, 0660
import {
  chmodSync,
  chownSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  closeSync,
  readFileSync,
  readdirSync,
  renameSync,
} from 'node:fs'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Account } from '../../platform/account.ts'

export interface InstanceRecord {
  readonly id: string
  /** Undefined when the server is not root; the instance then has the server's uid. */
  readonly uid: number | undefined
  readonly hasNetwork: boolean
  /** The device of its GPU, if it has one. */
  readonly gpu?: string
}

/** The kernel's limit for socket paths is 107 bytes. */
const MAX_SOCKET_PATH_LENGTH = 107
/** From asm-generic, the same on x64 and arm64. Such a descriptor needs no right to read the directory. */
const O_PATH = 0o10000000

export function isInstanceId(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name)
}

export class InstanceDirectory {
  readonly path: string
  readonly pub: string
  readonly stderr: string
  readonly report: string
  /** Directories whose sockets have a path that is too long. */
  readonly #opened = new Map<string, number>()

  constructor(instancesDir: string, id: string) {
    this.path = join(instancesDir, id)
    this.pub = join(this.path, 'pub')
    this.stderr = join(this.path, 'stderr')
    this.report = join(this.path, 'report')
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

  /** Every fifo that an instance starts with. */
  get fifos(): readonly string[] {
    return [this.stderr, this.report]
  }

  /** The path of a socket in pub/; removes what an earlier server left there. */
  socketPath(name: string): string {
    rmSync(join(this.pub, name), { force: true })
    return this.#short(this.pub, name)
  }

  /** For the server only: no instance sees this directory. */
  get linkPath(): string {
    return this.#short(this.path, 'link.sock')
  }

  /** The link's socket before it has its name. */
  get unfinishedLinkPath(): string {
    return this.#short(this.path, 'link.sock.new')
  }

  get hasLink(): boolean {
    return existsSync(join(this.path, 'link.sock'))
  }

  /** Allows only this instance to connect to the socket. */
  admit(name: string, uid: number | undefined): void {
    const path = join(this.pub, name)
    if (uid !== undefined) chownSync(path, 0, uid)
    chmodSync(path, uid === undefined ? 0o600 : 0o660)
  }

  /** Allows only this account to dial the agent. */
  giveLink({ uid, gid }: Account): void {
    const path = join(this.path, 'link.sock')
    chmodSync(path, 0o600)
    chownSync(path, uid, gid)
  }

  close(): void {
    for (const descriptor of this.#opened.values()) closeSync(descriptor)
    this.#opened.clear()
  }

  #short(directory: string, name: string): string {
    const path = join(directory, name)
    if (Buffer.byteLength(path) <= MAX_SOCKET_PATH_LENGTH) return path
    const descriptor = this.#opened.get(directory) ?? openSync(directory, O_PATH | constants.O_DIRECTORY)
    this.#opened.set(directory, descriptor)
    return `/proc/${process.pid}/fd/${descriptor}/${name}`
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
