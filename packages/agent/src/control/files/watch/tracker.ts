// Follows one directory, or all below it, by what the kernel reports (inotify, which Node's fs.watch gives
// for single directories), and says what happened to which path.
//
// News come in bursts; what happened is told when a burst is over, so that the two halves of a rename are
// seen together. A burst without end would leave no time for anything else: beyond a bound the watches are
// let go for a moment, OVERFLOW is said, and what changed meanwhile is found by looking at everything. The
// kernel drops news only when far more than that are waiting, so none are lost silently.
import { readdirSync, watch, type FSWatcher } from 'node:fs'
import { basename } from 'node:path'
import { bytesOf, toBytePath, toText } from '../byte-paths.ts'
import { isTemporary } from '../paths.ts'
import type { Allowance } from './allowance.ts'
import type { FileEvent } from './file-event.ts'
import { hasNewContent, isOnlyAttributes, isSame, look, type Seen } from './seen.ts'

const MIN_PAUSE_MS = 100
/** Looking at everything may take a part of the time, but not most of it. */
const PAUSE_FACTOR = 5
/** How long the news that something went may come after it has gone. */
const GHOST_MS = 100

type Event = { -readonly [K in keyof FileEvent]: FileEvent[K] }

interface Directory {
  watcher: FSWatcher | undefined
  readonly entries: Map<string, Seen>
  /** Names that had gone again before we could look. */
  readonly ghosts: Set<string>
}

/** More than may be watched. */
export class TooMuch extends Error {}

export interface TrackerOptions {
  readonly path: string
  readonly recursive: boolean
  readonly allowance: Allowance
  /** There is more news than time, for all trackers. */
  readonly onTooMuchNews: () => void
  readonly onEvents: (events: readonly FileEvent[]) => void
  /** The directory itself is gone. */
  readonly onEnd: () => void
}

export class Tracker {
  readonly #options: TrackerOptions
  /** A byte path, as all paths here. */
  readonly #root: string
  readonly #rootInode: number | undefined
  readonly #directories = new Map<string, Directory>()
  #events: Event[] = []
  /** In this burst: what went, by inode, and what was written. */
  readonly #gone = new Map<number, { seen: Seen; event: Event }>()
  readonly #written = new Set<string>()
  #burst: NodeJS.Immediate | undefined
  #ghostTimer: NodeJS.Timeout | undefined
  #pause: NodeJS.Timeout | undefined
  #pauseMs = MIN_PAUSE_MS
  #isClosed = false

  /** Throws what the file system does, or TooMuch. */
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

  /** Lets go of the watches for a moment, then finds what changed by looking. */
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

  /** isNew: what is in it came with it, or after, and is told. */
  #follow(path: string, { isNew }: { isNew: boolean }): void {
    if (!this.#options.allowance.take('directories')) throw new TooMuch('directories')
    const directory: Directory = { watcher: undefined, entries: new Map(), ghosts: new Set() }
    this.#directories.set(path, directory)
    // Before looking, so that nothing comes in between.
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

  /** Throws where it cannot be watched; then it is none of ours. */
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
    // The end of a directory is told under its own name, as if something of that name was in it.
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
    // It came and went; the second news of that is about its going.
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
    // The two halves of a rename: the first was taken for a deletion.
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
      // One that has gone again is told by the directory that it was in. Otherwise it cannot be watched:
      // there are too many, here or in all of the system.
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

  /** False where no more may be remembered. */
  #remember({ entries }: Directory, name: string, seen: Seen): boolean {
    if (!entries.has(name) && !this.#options.allowance.take('entries')) return false
    entries.set(name, seen)
    return true
  }

  /** And all below it. */
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

  /** Of directories below, the one they are in tells. */
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
    // Those above come first, and take those below with them when they have gone; new ones are as they are.
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
    // Gone, or not to be looked into.
    return []
  }
}
