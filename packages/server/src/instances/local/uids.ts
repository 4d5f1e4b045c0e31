// Two host uids for each instance, so that two instances never share a limit or permission that the kernel
// keeps by uid: one for what the tenant runs, and the next for the agent. Used uids are found, not stored: in the records of instances and the processes of
// other servers on this host.
import { readdirSync, statSync } from 'node:fs'

/** Above Debian's uids for people and services (up to 65535), below the kernel's maximum (2^32). */
export const FIRST_UID = 200_000
/** Of pairs. */
const COUNT = 65_536

/** The agent's host uid, for an instance whose tenant has `uid`. */
export const agentUidOf = (uid: number): number => uid + 1

export class Uids {
  readonly #taken: Set<number>
  #next: number

  /** `seed` makes it unlikely that servers with other data directories try the same uids. */
  constructor({ taken, seed }: { taken: Iterable<number>; seed: number }) {
    this.#taken = new Set(taken)
    this.#next = seed % COUNT
  }

  /** The first of two. Goes through all uids in turn, so that a uid is not reused for a long time. */
  take(): number {
    const running = uidsOfProcesses()
    for (let tried = 0; tried < COUNT; tried++) {
      const uid = FIRST_UID + 2 * this.#next
      this.#next = (this.#next + 1) % COUNT
      const isUsed = (one: number) => this.#taken.has(one) || running.has(one)
      // An earlier version gave single uids, also odd ones.
      if (isUsed(uid) || isUsed(agentUidOf(uid))) continue
      this.#taken.add(uid)
      return uid
    }
    throw new Error(`Cannot find uids for an instance: all ${2 * COUNT} from ${FIRST_UID} on are taken`)
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
