// Follows one directory, or the whole tree below it, and reports what happened to which path. It uses inotify,
// which Node's fs.watch provides for single directories.
//
// Events come in bursts. Changes are reported after a burst, so that the two halves of a rename are seen
// together. An endless burst would leave no time for anything else: beyond a limit the watches are closed for
// a moment, OVERFLOW is reported, and a full scan finds the changes. The kernel drops events only when far
// more are waiting, so none are lost silently.
import { readdirSync, watch, type FSWatcher } from 'node:fs'
import { basename } from 'node:path'
import { bytesOf, toBytePath, toText } from '../disk/byte-paths.ts'
import { isTemporary } from '../disk/paths.ts'
import type { Allowance } from './allowance.ts'
import type { FileEvent } from './file-event.ts'
import { hasNewContent, isOnlyAttributes, isSame, look, type Seen } from './seen.ts'

const MIN_PAUSE_MS = 100
/** Pauses this many times as long as a full scan takes, so that scans use only part of the time. */
const PAUSE_FACTOR = 5
/** How late the event for a deletion may arrive. */
const GHOST_MS = 100

type Event = { -readonly [K in keyof FileEvent]: FileEvent[K] }

interface Directory {
  watcher: FSWatcher | undefined
  readonly entries: Map<string, Seen>
  /** Names that were gone again before they could be examined. */
  readonly ghosts: Set<string>
}

/** The watch limit is reached. */
export class TooMuch extends Error {}

export interface TrackerOptions {
  readonly path: string
  readonly recursive: boolean
  readonly allowance: Allowance
  /** All trackers together get more events than they can handle. */
  readonly onTooMuchNews: () => void
  readonly onEvents: (events: readonly FileEvent[]) => void
  /** The directory itself is gone. */
  readonly onEnd: () => void
}

export class Tracker {
  readonly #options: TrackerOptions
  /** A byte path, like all paths here. */
  readonly #root: string
  readonly #rootInode: number | undefined
  readonly #directories = new Map<string, Directory>()
  #events: Event[] = []
  /** In this burst: deleted entries by inode, and written ones. */
  readonly #gone = new Map<number, { seen: Seen; event: Event }>()
  readonly #written = new Set<string>()
  #burst: NodeJS.Immediate | undefined
  #ghostTimer: NodeJS.Timeout | undefined
  #pause: NodeJS.Timeout | undefined
  #pauseMs = MIN_PAUSE_MS
  #isClosed = false

  /** Throws file system errors, or TooMuch. */
  constructor(options: TrackerOptions) {
    this.#options = options
    this.#root = toBytePath(options.path)
    this.#rootInode = look(this.#root, { followsLinks: true })?.inode
    try {
      this.#follow(this.#root, { isNew: false })
    } catch (error) {
      this.close()
      throw error
    }
  }

  close(): void {
    this.#isClosed = true
    clearImmediate(this.#burst)
    clearTimeout(this.#ghostTimer)
    clearTimeout(this.#pause)
    this.#forget(this.#root)
  }

  /** Closes the watches for a moment, then scans for changes. */
  overflow(): void {
    if (this.#pause || this.#isClosed) return
    for (const { watcher } of this.#directories.values()) watcher?.close()
    this.#tellOverflow(this.#root)
    this.#pause = setTimeout(() => {
      this.#pause = undefined
      const began = performance.now()
      this.#lookAgain()
      this.#pauseMs = Math.max(MIN_PAUSE_MS, (performance.now() - began) * PAUSE_FACTOR)
    }, this.#pauseMs)
  }

  /** isNew: the directory is new, so its entries are reported too. */
  #follow(path: string, { isNew }: { isNew: boolean }): void {
    if (!this.#options.allowance.take('directories')) throw new TooMuch('directories')
    const directory: Directory = { watcher: undefined, entries: new Map(), ghosts: new Set() }
    this.#directories.set(path, directory)
    // Before the scan, so that no change is missed in between.
    this.#watch(path, directory)
    for (const name of namesIn(path)) {
      const seen = look(`${path}/${name}`)
      if (!seen) continue
      if (isNew) this.#appeared(path, name, seen)
      else {
        if (!this.#remember(directory, name, seen)) throw new TooMuch('entries')
        if (seen.isDirectory && this.#options.recursive) this.#follow(`${path}/${name}`, { isNew })
      }
    }
  }

  /** Throws if the directory cannot be watched; then it is not tracked. */
  #watch(path: string, directory: Directory): void {
    try {
      const options = { encoding: 'latin1' } as const
      directory.watcher = watch(bytesOf(path), options, (kind, name) => this.#heard(path, kind, name))
      directory.watcher.on('error', () => this.overflow())
    } catch (error) {
      this.#forget(path)
      throw error
    }
  }

  #heard(path: string, kind: string, name: string | null): void {
    if (this.#isClosed || this.#pause || name === null || isTemporary(name)) return
    if (!this.#options.allowance.hear()) return this.#options.onTooMuchNews()
    if (kind === 'rename') this.#cameOrWent(path, name)
    else this.#changed(path, name)
  }

  #cameOrWent(path: string, name: string): void {
    const directory = this.#directories.get(path)
    // A directory's deletion arrives under its own name, as if it contained an entry of that name.
    if (!directory || (name === basename(path) && !this.#isStillThere(path))) return
    const known = directory.entries.get(name)
    const now = look(`${path}/${name}`)
    if (now) {
      directory.ghosts.delete(name)
      if (!known) this.#appeared(path, name, now)
      else if (!isSame(known, now)) this.#replaced(path, name, { known, now })
      else {
        directory.entries.set(name, now)
        if (!now.isDirectory && hasNewContent(known, now)) this.#wrote(path, name)
      }
    } else if (known) this.#disappeared(path, name, known)
    // The entry was created and deleted; this second event is the deletion.
    else if (directory.ghosts.delete(name)) this.#tell('DELETE', path, name)
    else {
      directory.ghosts.add(name)
      this.#tell('CREATE', path, name)
      this.#ghostTimer ??= setTimeout(() => this.#layGhosts(), GHOST_MS)
    }
  }

  #changed(path: string, name: string): void {
    const directory = this.#directories.get(path)
    const full = `${path}/${name}`
    if (!directory || this.#written.has(full)) return
    const now = look(full)
    if (!now) return
    const known = directory.entries.get(name)
    this.#remember(directory, name, now)
    if (now.isDirectory || (known && isOnlyAttributes(known, now))) return
    this.#wrote(path, name)
  }

  #appeared(path: string, name: string, seen: Seen): void {
    if (!this.#remember(this.#directories.get(path)!, name, seen)) this.#tellOverflow(path)
    // The second half of a rename; the first looked like a deletion.
    const from = this.#gone.get(seen.inode)
    if (from && isSame(from.seen, seen)) from.event.type = 'RENAME'
    this.#tell('CREATE', path, name, seen.isDirectory)
    if (seen.isDirectory && this.#options.recursive) this.#followNew(`${path}/${name}`)
    else if (!seen.isDirectory && seen.size > 0) this.#wrote(path, name)
  }

  #followNew(path: string): void {
    try {
      this.#follow(path, { isNew: true })
    } catch (error) {
      // ENOENT: it is gone again, and its parent reports that. Otherwise it cannot be watched, because there
      // are too many watches here or on the whole system.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#tellOverflow(path)
    }
  }

  #replaced(path: string, name: string, { known, now }: { known: Seen; now: Seen }): void {
    if (known.isDirectory) this.#disappeared(path, name, known)
    this.#appeared(path, name, now)
  }

  #disappeared(path: string, name: string, known: Seen): void {
    this.#directories.get(path)!.entries.delete(name)
    this.#options.allowance.give('entries')
    const event = this.#tell('DELETE', path, name, known.isDirectory)
    this.#gone.set(known.inode, { seen: known, event })
    if (known.isDirectory) this.#forget(`${path}/${name}`)
  }

  #wrote(path: string, name: string): void {
    this.#tell('WRITE', path, name, false)
    this.#written.add(`${path}/${name}`)
  }

  #tell(type: FileEvent['type'], path: string, name: string, isDirectory?: boolean): Event {
    this.#written.delete(`${path}/${name}`)
    const event: Event = {
      type,
      path: toText(path === '/' ? `/${name}` : `${path}/${name}`),
      name: toText(name),
      ...(isDirectory !== undefined && { is_dir: isDirectory }),
    }
    this.#queue(event)
    return event
  }

  #tellOverflow(path: string): void {
    const event: Event = { type: 'OVERFLOW', path: toText(path), is_dir: true }
    if (!this.#events.some(({ type, path: at }) => type === event.type && at === event.path))
      this.#queue(event)
  }

  #queue(event: Event): void {
    this.#events.push(event)
    this.#burst ??= setImmediate(() => this.#endBurst())
  }

  #endBurst(): void {
    this.#burst = undefined
    this.#gone.clear()
    this.#written.clear()
    const events = this.#events
    this.#events = []
    this.#options.onEvents(events)
  }

  /** False when the limit of remembered entries is reached. */
  #remember({ entries }: Directory, name: string, seen: Seen): boolean {
    if (!entries.has(name) && !this.#options.allowance.take('entries')) return false
    entries.set(name, seen)
    return true
  }

  /** Also forgets everything below it. */
  #forget(path: string): void {
    const { allowance } = this.#options
    for (const [each, { watcher, entries }] of this.#directories) {
      if (each !== path && !each.startsWith(`${path}/`)) continue
      watcher?.close()
      this.#directories.delete(each)
      allowance.give('directories')
      allowance.give('entries', entries.size)
    }
  }

  /** Only checks the root: a subdirectory's deletion is reported by its parent. */
  #isStillThere(path: string): boolean {
    if (path !== this.#root) return look(path)?.isDirectory ?? false
    if (look(path, { followsLinks: true })?.inode === this.#rootInode) return true
    const { path: root, onEvents, onEnd } = this.#options
    const events = this.#events
    this.close()
    onEvents([...events, { type: 'DELETE', path: root, name: basename(root), is_dir: true }])
    onEnd()
    return false
  }

  #layGhosts(): void {
    this.#ghostTimer = undefined
    for (const [path, { ghosts }] of this.#directories) {
      for (const name of ghosts) this.#tell('DELETE', path, name)
      ghosts.clear()
    }
  }

  #lookAgain(): void {
    // Parents come first, and remove their children when they are gone; new directories are already up to date.
    for (const [path, directory] of Array.from(this.#directories)) {
      if (this.#directories.get(path) !== directory || !this.#isStillThere(path)) continue
      try {
        this.#watch(path, directory)
      } catch {
        this.#tellOverflow(path)
        continue
      }
      for (const name of new Set([...namesIn(path), ...directory.entries.keys()]))
        this.#cameOrWent(path, name)
    }
  }
}

function namesIn(path: string): string[] {
  try {
    return readdirSync(bytesOf(path), { encoding: 'latin1' }).filter((name) => !isTemporary(name))
  } catch {
    // Gone or unreadable.
    return []
  }
}
