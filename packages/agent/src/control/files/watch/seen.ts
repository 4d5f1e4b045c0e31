// The last known state of an entry. The kernel's events, as Node delivers them, say only that a name came or
// went, or that something changed; comparing states tells what happened.
import { lstatSync, statSync } from 'node:fs'
import { bytesOf } from '../disk/byte-paths.ts'

export interface Seen {
  readonly isDirectory: boolean
  readonly inode: number
  /** Creation time, because inode numbers are reused. */
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
    // For example a directory without permission: treated as missing.
    return undefined
  }
}

/** Whether both are the same file, even if it was moved. */
export function isSame(before: Seen, now: Seen): boolean {
  return before.inode === now.inode && before.born === now.born
}

export function hasNewContent(before: Seen, now: Seen): boolean {
  return before.modified !== now.modified || before.size !== now.size
}

/** Whether only permissions or owner changed, which are not reported. */
export function isOnlyAttributes(before: Seen, now: Seen): boolean {
  return !hasNewContent(before, now) && before.changed !== now.changed
}
