// Who is who in an instance's user namespace. Bubblewrap can map one uid only. For two it has to be told by root
// from outside: it reports its child on one descriptor and waits on another.
import { closeSync, constants, openSync, writeFileSync } from 'node:fs'
import { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import { APP_UID_INSIDE, INSIDE_UID } from './ids-inside.ts'
import type { HostUids } from './uids.ts'

/** Root inside: the agent, and bubblewrap's first process. */
export const AGENT_UID_INSIDE = 0
const MAX_REPORT_BYTES = 16 * 1024
const CHILD = /"child-pid":\s*(\d+)\D/

export function idMap({ user, app, agent }: HostUids): string {
  const pairs = [
    [AGENT_UID_INSIDE, agent],
    [INSIDE_UID, user],
    [APP_UID_INSIDE, app],
  ]
  return pairs.map(([inside, outside]) => `${inside} ${outside} 1\n`).join('')
}

/**
 * Bubblewrap's report of its child. A fifo that bubblewrap also holds open for reading: it could not go on after
 * writing to a pipe that ended with the server, and its child would wait for ever.
 */
export class ChildReport {
  readonly theirs: number
  readonly #ours: Socket

  constructor(path: string) {
    this.#ours = new Socket({
      fd: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK),
      writable: false,
    })
    this.#ours.on('error', () => this.close())
    this.#ours.unref()
    this.theirs = openSync(path, constants.O_RDWR)
  }

  /** Call once the child has its end. */
  handedOver(): void {
    closeSync(this.theirs)
  }

  /**
   * Maps the ids of the child as soon as it is reported. If this fails, or the server ends before it, bubblewrap goes
   * on without ids, cannot make a single directory, and ends.
   */
  mapIds(uids: HostUids, go: Writable): void {
    go.on('error', () => go.destroy())
    this.#ours.once('close', () => go.destroy())
    let text = ''
    this.#ours.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      const pid = CHILD.exec(text)?.[1]
      if (pid === undefined && text.length < MAX_REPORT_BYTES) return
      try {
        // The gids first: with half of it, bubblewrap cannot go on either.
        for (const file of ['gid_map', 'uid_map']) writeFileSync(`/proc/${pid}/${file}`, idMap(uids))
      } catch {
        // It has just been killed.
      }
      this.close()
    })
  }

  close(): void {
    this.#ours.destroy()
  }
}
