// Host uids for each instance, so that two instances never share a limit or permission that the kernel keeps by uid,
// and inside, the agent and the invocations of an app have others than the tenant. Used uids are found, not stored: in the records of instances and the processes of
// other servers on this host.
import { readdirSync, statSync } from 'node:fs'

/**
 * Where nobody else takes uids by custom: above those of people, of /etc/subuid and of containers, below 2^31.
 * See https://systemd.io/UIDS-GIDS/.
 */
export const DEFAULT_UID_BASE = 0x70000000
/** Of instances. */
const COUNT = 65_536
export const UIDS_EACH = 4
export const UID_COUNT = COUNT * UIDS_EACH

export interface HostUids {
  /** Chromium, and all that the tenant runs. */
  readonly user: number
  /** Invocations of an app, which must not change its files. */
  readonly app: number
  readonly agent: number
}

/** Those of an instance whose record has `uid`. */
export const hostUidsOf = (uid: number): HostUids => ({ user: uid, app: uid + 1, agent: uid + 2 })

export class Uids {
  readonly #base: number
  readonly #taken: Set<number>
  #next: number

  /** `seed` makes it unlikely that servers with other data directories try the same uids. */
  constructor({ base, taken, seed }: { base: number; taken: Iterable<number>; seed: number }) {
    this.#base = base
    this.#taken = new Set(taken)
    this.#next = seed % COUNT
  }

  /** The first of its uids. Goes through all uids in turn, so that a uid is not reused for a long time. */
  take(): number {
    const running = uidsOfProcesses()
    for (let tried = 0; tried < COUNT; tried++) {
      const uid = this.#base + UIDS_EACH * this.#next
      this.#next = (this.#next + 1) % COUNT
      const isUsed = (one: number) => this.#taken.has(one) || running.has(one)
      // An earlier version gave single uids, of any number.
      if (Object.values(hostUidsOf(uid)).some(isUsed)) continue
      this.#taken.add(uid)
      return uid
    }
    throw new Error(`Cannot find uids for an instance: all ${UID_COUNT} from ${this.#base} on are taken`)
  }

  giveBack(uid: number): void {
    this.#taken.delete(uid)
  }
}

function uidsOfProcesses(): Set<number> {
  const uids = new Set<number>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const stat = statSync(`/proc/${name}`, { throwIfNoEntry: false })
    if (stat) uids.add(stat.uid)
  }
  return uids
}
