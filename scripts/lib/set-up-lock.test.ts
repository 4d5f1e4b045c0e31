import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test, type TestContext } from 'node:test'

const lockFile = join(import.meta.dirname, 'set-up-lock.mjs')

/** A process that takes the lock, prints what happens to it, and keeps the lock until it ends. */
function startHolder(t: TestContext, root: string) {
  const code = `
    const { lockSetUp } = await import(${JSON.stringify(lockFile)})
    lockSetUp(${JSON.stringify(root)}, (text) => console.log(text))
    console.log('locked')
    setInterval(() => {}, 1000)
  `
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return { child, next: async () => (await lines.next()).value as string }
}

test('a second set-up waits for the first, and goes on when the first is killed', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'berth-set-up-lock-'))
  t.after(() => rmSync(root, { recursive: true }))
  const first = startHolder(t, root)
  assert.equal(await first.next(), 'locked')
  const second = startHolder(t, root)
  assert.equal(await second.next(), 'waiting for another set-up of this checkout')
  first.child.kill('SIGKILL')
  await once(first.child, 'exit')
  assert.equal(await second.next(), 'locked')
})
