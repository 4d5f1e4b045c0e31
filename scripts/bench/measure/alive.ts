// Tells whether processes still run. A zombie counts as gone: it has no memory and does not run, and how soon its
// parent reaps it is up to the parent.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'

const WAIT_TIMEOUT_MS = 20_000

/** Polls without a pause, because the processes end within milliseconds. */
export async function whenGone(pids: readonly number[], isElseGone = () => true): Promise<void> {
  const deadline = performance.now() + WAIT_TIMEOUT_MS
  let left = pids
  for (;;) {
    left = left.filter(isAlive)
    if (left.length === 0 && isElseGone()) return
    assert.ok(performance.now() < deadline, `processes ${left.join(', ')} did not end in time`)
    await turn()
  }
}

export function isAlive(pid: number): boolean {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const state = text[text.lastIndexOf(')') + 2]
    return state !== 'Z' && state !== 'X'
  } catch {
    return false
  }
}
