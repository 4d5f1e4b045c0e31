// What was last seen of an entry. The kernel's news, as Node passes them on, say only that a name came or
// went, or that something changed: what it was is told by comparing.
import { lstatSync, statSync } from 'node:fs'
import { bytesOf } from '../byte-paths.ts'

export interface Seen {
  readonly isDirectory: boolean
  readonly inode: number
  /** When it was made; numbers of inodes are used again. */
  readonly born: number
  readonly size: number
  readonly modified: number
  readonly changed: number
}

export function look(bytePath: string, { followsLinks = false } = {}): Seen | undefined {
  try {
    const stats = (followsLinks ? statSync : lstatSync)(bytesOf(bytePath), { throwIfNoEntry: false })
    return (
      stats && {
        isDirectory: stats.isDirectory(),
        inode: stats.ino,
        born: stats.birthtimeMs,
        size: stats.size,
        modified: stats.mtimeMs,
        changed: stats.ctimeMs,
      }
    )
  } catch {
    // Such as a directory that may not be entered: as good as not there.
    return undefined
  }
}

/** Wherever it is now. */
export function isSame(before: Seen, now: Seen): boolean {
  return before.inode === now.inode && before.born === now.born
}

export function hasNewContent(before: Seen, now: Seen): boolean {
  return before.modified !== now.modified || before.size !== now.size
}

/** Its permissions or its owner, which are not told. */
export function isOnlyAttributes(before: Seen, now: Seen): boolean {
  return !hasNewContent(before, now) && before.changed !== now.changed
}
