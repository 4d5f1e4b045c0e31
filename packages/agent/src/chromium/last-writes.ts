// Lets Chromium's storage process write before the browser ends. It gets the last values of local storage when the pages
// close, and it dies with the browser, which does not wait for it: on a busy machine these values are lost.
import { readdirSync, readFileSync } from 'node:fs'
import { pause } from '@berth/kit/pause'
import { helperOf } from './helper-process.ts'

const WAIT_MS = 3_000
const LOOK_EVERY_MS = 5
/** How often in a row it must have done nothing. Pages that close on a busy machine send their last values late. */
const QUIET_LOOKS = 10

/** Stops the closing browser until its storage process has nothing to do any more. */
export async function holdUntilWritten(browser: number): Promise<void> {
  if (!send(browser, 'SIGSTOP')) return
  try {
    const writer = helperOf(browser, 'storage.mojom.StorageService')
    if (writer !== undefined) await untilQuiet(writer)
  } finally {
    send(browser, 'SIGCONT')
  }
}

async function untilQuiet(pid: number): Promise<void> {
  const until = performance.now() + WAIT_MS
  let before: string | undefined
  for (let quiet = 0; quiet < QUIET_LOOKS && performance.now() < until;) {
    const now = activityOf(pid)
    if (now === 'ended') return
    quiet = now !== undefined && now === before ? quiet + 1 : 0
    before = now
    await pause(LOOK_EVERY_MS)
  }
}

/** What each thread has done so far; undefined while one of them works or waits for a processor or the disk. */
function activityOf(pid: number): string | undefined {
  const threads = list(`/proc/${pid}/task`).map((id) => read(`/proc/${pid}/task/${id}/status`))
  if (threads.length === 0) return 'ended'
  if (!threads.every((status) => /^State:\s+S/m.test(status))) return undefined
  return threads.map((status) => /^voluntary_ctxt_switches:.*$/m.exec(status)?.[0]).join()
}

function send(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    // It has ended already.
    return false
  }
}

function list(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
