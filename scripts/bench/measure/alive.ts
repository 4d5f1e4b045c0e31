// Whether processes are still there. One that has ended and only waits for its parent to notice has no
// memory and runs no more, so it counts as gone; how soon a parent notices is the parent's matter.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'

const WAIT_TIMEOUT_MS = 20_000

/** Looks as often as it can: what is waited for takes milliseconds. */
export async function whenGone(pids: readonly number[], isElseGone = () => true): Promise<void> {
  const deadline = performance.now() + WAIT_TIMEOUT_MS
  let left = pids
  for (;;) {
    left = left.filter(isAlive)
    if (left.length === 0 && isElseGone()) return
    assert.ok(performance.now() < deadline, `processes ${left.join(', ')} do not end`)
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
