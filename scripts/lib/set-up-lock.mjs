// Lets one set-up of a checkout run at a time: two would remove each other's files.
import { spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'

/** Waits for the lock and returns what releases it. The kernel releases the lock of a process that is killed. */
export function lockSetUp(root, say) {
  mkdirSync(join(root, '.cache'), { recursive: true })
  const file = openSync(join(root, '.cache', 'set-up.lock'), 'w')
  // flock(1) locks the open file that it inherits, so the lock lasts until this process closes that file.
  const flock = (...args) =>
    spawnSync('flock', [...args, '3'], { stdio: ['ignore', 'ignore', 'inherit', file] })
  const { error, status } = flock('--nonblock')
  // Without util-linux there is no lock; the set-up installs it.
  if (!error && status !== 0) {
    say('waiting for another set-up of this checkout')
    flock()
  }
  return () => closeSync(file)
}
