// Cleans up when no server does. Instances end when their lease lapses, but a frozen one cannot, and
// directories and control groups stay. So each server has a small shell process beside it that
// survives it: if the server ends and no other has started by the end of the lease, it ends all
// that is left.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { pause } from '@berth/kit/pause'
import type { Log } from '../driver/log.ts'
import type { Programs } from './programs.ts'

/** Added to the lease: an instance may need this long to notice that it lapsed. */
const MARGIN_SECONDS = 3
const RESTART_AFTER_MS = 1_000

// Arguments: flock, lock file, instances directory, seconds to wait, parents of control groups.
// Standard input ends with the server. Patterns that match nothing stay as they are and fail silently.
const SCRIPT = `flock=$1 lock=$2 instances=$3 left=$4
shift 4
read -r word
[ "$word" = bye ] && exit 0
exec 9<>"$lock"

is_anything_left() {
  for path in "$instances"/*/; do [ -d "$path" ] && return; done
  for parent; do
    for path in "$parent"/*/; do [ -d "$path" ] && return; done
  done
  return 1
}
while [ "$left" -gt 0 ] && is_anything_left "$@"; do
  sleep 1
  left=$((left - 1))
  "$flock" -n 9 || exit 0
  "$flock" -u 9
done
"$flock" -n 9 || exit 0

pids_of() {
  if [ $# -gt 0 ]; then
    for parent; do cat "$parent"/*/cgroup.procs; done
    return
  fi
  # No control groups: bubblewraps that bind a directory of ours.
  for proc in /proc/[0-9]*; do
    args=$(tr '\\0' '\\n' < "$proc/cmdline") || continue
    case \${args%%"
"*} in */bwrap) ;; *) continue ;; esac
    for directory in "$instances"/*/; do
      id=\${directory%/}
      id=\${id##*/}
      case $args in *"/$id/pub
"*) echo "\${proc#/proc/}" ;; esac
    done
  done
}

tries=0
while pids=$(pids_of "$@" 2>/dev/null); [ -n "$pids" ] && [ $tries -lt 600 ]; do
  # Before it thaws them: so they run no more instruction of their own.
  kill -9 $pids
  for parent; do
    for group in "$parent"/*/; do
      [ -e "$group/freezer.state" ] && echo THAWED > "$group/freezer.state"
      [ -e "$group/cgroup.freeze" ] && echo 0 > "$group/cgroup.freeze"
      [ -e "$group/pids.max" ] && echo 0 > "$group/pids.max"
      [ -e "$group/cgroup.kill" ] && echo 1 > "$group/cgroup.kill"
    done
  done
  tries=$((tries + 1))
  sleep 0.05
done
# The kernel lets go of a group a moment after its last process.
for try in 1 2 3 4 5 6 7 8 9 10; do
  for parent; do rmdir "$parent"/*/; done
  for parent; do rmdir "$parent" && rmdir "\${parent%/*}"; done
  remaining=
  for parent; do [ -d "$parent" ] && remaining=1; done
  [ -z "$remaining" ] && break
  sleep 0.1
done
rm -rf "$instances"/*/
[ "$instances" = "\${lock%/*}" ] || rm -rf "$instances"
exit 0`

export interface WardenOptions {
  readonly programs: Programs
  readonly lockPath: string
  readonly instancesDir: string
  readonly leaseSeconds: number
  readonly parents: readonly string[]
  readonly log: Log
}

export class Warden {
  readonly #options: WardenOptions
  #child: ChildProcess
  #isClosing = false

  constructor(options: WardenOptions) {
    this.#options = options
    this.#child = this.#spawn()
  }

  /** Ends at once if nothing is left to watch; otherwise continues as if the server had died. */
  async close({ isNothingLeft }: { isNothingLeft: boolean }): Promise<void> {
    this.#isClosing = true
    const child = this.#child
    child.stdin!.end(isNothingLeft ? 'bye\n' : '')
    if (!isNothingLeft || child.exitCode !== null || child.signalCode !== null) return
    child.ref()
    await once(child, 'exit')
  }

  #spawn(): ChildProcess {
    const { programs, lockPath, instancesDir, leaseSeconds, parents } = this.#options
    const wait = String(Math.ceil(leaseSeconds) + MARGIN_SECONDS)
    const child = spawn(
      programs.sh,
      ['-c', SCRIPT, 'berth-warden', programs.flock, lockPath, instancesDir, wait, ...parents],
      { env: { PATH: '/usr/bin:/bin' }, cwd: '/', detached: true, stdio: ['pipe', 'ignore', 'ignore'] },
    )
    child.unref()
    // SAFETY: a pipe to a child is a socket.
    const pipe = child.stdin as Socket
    pipe.unref()
    // Errors from writing to an ended process; its exit event handles that.
    pipe.on('error', () => {})
    child.once('error', (error) => this.#options.log.error({ err: error }, 'cannot start the warden'))
    child.once('exit', () => void this.#replace())
    return child
  }

  /** Something killed it, most likely the kernel because memory ran out. */
  async #replace(): Promise<void> {
    if (this.#isClosing) return
    this.#options.log.warn({}, 'the warden ended; starting another')
    await pause(RESTART_AFTER_MS)
    if (!this.#isClosing) this.#child = this.#spawn()
  }
}
