// A checkout or a data directory may be below a directory that the account may not enter, such as /root. Then the
// server gets its own view of the files, in which that directory is covered by an empty one with only the needed paths.
import { readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Account } from '../platform/account.ts'

export interface View {
  /** Directories to cover. */
  readonly covers: readonly string[]
  /** Directories to show at their old paths. */
  readonly shown: readonly string[]
}

/** `paths` are real directories. One that is itself closed is replaced by one with the same directories in it. */
export function viewFor(paths: readonly string[], account: Account): View {
  const covers = new Set<string>()
  const shown = new Set<string>()
  for (const path of paths) {
    const closed = [...ancestorsOf(path), path].find((directory) => !mayPass(directory, account))
    if (closed === undefined) continue
    covers.add(closed)
    for (const each of mayPass(path, account) ? [path] : directoriesIn(path)) shown.add(each)
  }
  const isInside = (path: string) => [...shown].some((other) => path.startsWith(`${other}/`))
  return { covers: [...covers], shown: [...shown].filter((path) => !isInside(path)) }
}

function directoriesIn(path: string): string[] {
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(path, name))
}

/** Whether the account may read this file, once it is in its view. */
export function mayRead(file: string, account: Account): boolean {
  return isAllowed(file, account, 0o4)
}

/** From the root down, without the path itself. */
function ancestorsOf(path: string): string[] {
  const ancestors: string[] = []
  for (let next = dirname(path); ; next = dirname(next)) {
    ancestors.unshift(next)
    if (next === dirname(next)) return ancestors
  }
}

function mayPass(directory: string, account: Account): boolean {
  return isAllowed(directory, account, 0o1)
}

function isAllowed(path: string, { uid, gid }: Account, bit: number): boolean {
  const stat = statSync(path)
  const shift = stat.uid === uid ? 6 : stat.gid === gid ? 3 : 0
  return ((stat.mode >> shift) & bit) !== 0
}

// Arguments: mount, how many are shown, those, how many are covered, those, the command. The paths to show are kept at
// /mnt while their parents are covered.
const VIEW_SCRIPT = `set -e
umask 022
m=$1 shown=$2
shift 2
"$m" -t tmpfs -o mode=0700,size=64k tmpfs /mnt
i=0
while [ $i -lt $shown ]; do
  mkdir /mnt/$i
  "$m" --rbind "$1" /mnt/$i
  set -- "$@" "$1"
  shift
  i=$((i + 1))
done
covered=$1
shift
while [ $covered -gt 0 ]; do
  "$m" -t tmpfs -o mode=0711,size=64k tmpfs "$1"
  shift
  covered=$((covered - 1))
done
command=$1
shift
while [ $command -gt 0 ]; do
  set -- "$@" "$1"
  shift
  command=$((command - 1))
done
i=0
while [ $i -lt $shown ]; do
  mkdir -p "$1"
  "$m" --move /mnt/$i "$1"
  shift
  i=$((i + 1))
done
umount /mnt
unset PWD
exec "$@"`

/** The command in its own view of the files, if it needs one. */
export function withView(
  { covers, shown }: View,
  command: readonly string[],
  programs: { readonly unshare: string; readonly sh: string; readonly mount: string },
): string[] {
  if (covers.length === 0) return [...command]
  const { unshare, sh, mount } = programs
  const own = [unshare, '--mount', '--propagation', 'private', sh, '-c', VIEW_SCRIPT, 'sh', mount]
  return [...own, ...counted(shown), ...counted(covers), ...counted(command)]
}

const counted = (list: readonly string[]): string[] => [String(list.length), ...list]
