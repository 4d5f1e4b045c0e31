// A host uid for each instance, so that no limit or permission that the kernel keeps by uid is shared
// by two. Taken ones are found in what exists, not remembered: records of instances, and processes
// of other servers on this host.
import { readdirSync, statSync } from 'node:fs'

/** Above what Debian gives to people and services (up to 65535), below the kernel's own (2^32). */
export const FIRST_UID = 200_000
const COUNT = 65_536

export class Uids {
  readonly #taken: Set<number>
  #next: number

  /** `seed` makes it unlikely that servers with other data directories look at the same uids. */
  constructor({ taken, seed }: { taken: Iterable<number>; seed: number }) {
    this.#taken = new Set(taken)
    this.#next = seed % COUNT
  }

  /** Goes round, so that a uid rests for long before it is given again. */
  take(): number {
    const running = uidsOfProcesses()
    for (let tried = 0; tried < COUNT; tried++) {
      const uid = FIRST_UID + this.#next
      this.#next = (this.#next + 1) % COUNT
      if (this.#taken.has(uid) || running.has(uid)) continue
      this.#taken.add(uid)
      return uid
    }
    throw new Error(`Cannot find a uid for an instance: all ${COUNT} from ${FIRST_UID} on are taken`)
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
