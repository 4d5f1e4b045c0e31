// Our programs at paths that say nothing: those of the checkout would be read in an instance's mountinfo. Each file has a
// directory named by what the file is, which all servers of this machine share. What is not used for a week goes. That
// harms no instance, because a file stays for whoever has it bound, and it comes back when one is started.
//
//   /var/lib/berth/programs/<hash>/<name>
import { createHash } from 'node:crypto'
import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { makePassable } from './instance-directory.ts'

export const PROGRAMS = '/var/lib/berth/programs'
const WEEK_MS = 7 * 86_400_000
const HOUR_MS = 3_600_000
/** Smaller files are copied: a build may write into them while instances use them. */
const LINKED_FROM_BYTES = 32 * 1024 * 1024
const READABLE_BY_ALL = 0o005

export interface PlacedPrograms<Paths> {
  readonly paths: Paths
  readonly others: readonly string[]
  readonly placed: PlacedFiles | undefined
  /** Why some are where they were, if any is. */
  readonly failure: string | undefined
}

/** Files that are not there are left as they are. */
export function placePrograms<Paths extends Readonly<Record<string, string | undefined>>>(
  paths: Paths,
  others: readonly string[] = [],
): PlacedPrograms<Paths> {
  try {
    const placed = new PlacedFiles()
    const found = Object.entries(paths).map(([name, path]) => {
      return [name, path !== undefined && existsSync(path) ? placed.place(path) : path]
    })
    const placedOthers = others.map((path) => placed.place(path))
    placed.removeUnused()
    // SAFETY: built from the entries of `paths`.
    return {
      paths: Object.fromEntries(found) as Paths,
      others: placedOthers,
      placed,
      failure: undefined,
    }
  } catch (error) {
    return { ...notPlaced(paths, others), failure: (error as Error).message }
  }
}

/** For a server that may not: its instances see where the files are. */
export function notPlaced<Paths>(paths: Paths, others: readonly string[] = []): PlacedPrograms<Paths> {
  return { paths, others, placed: undefined, failure: undefined }
}

export class PlacedFiles {
  readonly #directory: string
  readonly #placed = new Map<string, string>()
  #keptAt = 0

  /** Throws where the directory cannot be written. */
  constructor(directory = PROGRAMS) {
    this.#directory = directory
    // Whatever the umask is.
    mkdirSync(directory, { recursive: true })
    for (const path of [dirname(directory), directory]) makePassable(path)
  }

  /** Returns where the file is now. */
  place(path: string): string {
    const { dev, ino, size, mtimeNs } = statSync(path, { bigint: true })
    // Not of the path: an instance sees the hash, and could check a guess.
    const hash = createHash('sha256').update([dev, ino, size, mtimeNs].join('\n')).digest('hex')
    const placed = join(this.#directory, hash.slice(0, 16), basename(path))
    ensure(path, placed)
    this.#placed.set(path, placed)
    return placed
  }

  /** Call before a start: another server may have taken them for unused. */
  keep(): void {
    for (const [path, placed] of this.#placed) ensure(path, placed)
    const now = Date.now()
    if (now - this.#keptAt < HOUR_MS) return
    this.#keptAt = now
    for (const placed of this.#placed.values()) utimesSync(dirname(placed), now / 1000, now / 1000)
  }

  removeUnused(now = Date.now()): void {
    const own = new Set([...this.#placed.values()].map((placed) => dirname(placed)))
    for (const name of readdirSync(this.#directory)) {
      const path = join(this.#directory, name)
      const modifiedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now
      if (!own.has(path) && now - modifiedAt > WEEK_MS) rmSync(path, { recursive: true, force: true })
    }
  }
}

function ensure(path: string, placed: string): void {
  if (existsSync(placed)) return
  const directory = dirname(placed)
  const unfinished = mkdtempSync(`${directory}.new-`)
  try {
    chmodSync(unfinished, 0o755)
    linkOrCopy(path, join(unfinished, basename(placed)))
    renameSync(unfinished, directory)
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true })
    // Another server placed it in the same moment.
    if (!existsSync(placed)) throw error
  }
}

function linkOrCopy(from: string, to: string): void {
  const { size, mode } = statSync(from)
  if (size >= LINKED_FROM_BYTES && (mode & READABLE_BY_ALL) === READABLE_BY_ALL) {
    try {
      linkSync(from, to)
      return
    } catch {
      // On another file system, or one without links.
    }
  }
  copyFileSync(from, to, constants.COPYFILE_FICLONE)
  chmodSync(to, 0o755)
}
