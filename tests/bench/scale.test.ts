// Runs all of `npm run scale` with small numbers, to see that it works. The numbers mean nothing here.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'

const main = join(import.meta.dirname, '../../scripts/scale/main.ts')
const MAX_MS = 600_000

async function scale(...args: string[]): Promise<string> {
  const child = spawn(process.execPath, [main, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: MAX_MS,
  })
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ])
  assert.equal(code, 0, `${stdout}\n${stderr}`)
  return stdout
}

test('simulates from the readings that are kept', async () => {
  const said = await scale()
  for (const part of [
    /^create, warm /m,
    /^lock of the organisation /m,
    /^collector of Secrets /m,
    /^a server is lost /m,
  ])
    assert.match(said, part)
})

test('measures every part', async () => {
  const said = await scale('--measure', '--smoke')
  for (const part of ['life', 'crowd', 'telemetry', 'lock', 'takeOver', 'watch'])
    assert.match(said, new RegExp(`^${part}: took \\d+ s$`, 'm'))
  assert.match(said, /"createMs": \d/)
})

test('compares the model with real servers', async () => {
  assert.match(await scale('--check', '--smoke'), /^create, median /m)
})
