// systemd sends its signal to the first process of the unit alone, because sessions are to live on. So does somebody who
// kills npm. The server has to end with it: otherwise it would keep its port and its data, and no other could start.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { cleanUpAfter } from '../fixtures/cleanup.ts'
import { eventually } from '../fixtures/host.ts'
import { serverEnv, tempDir } from '../fixtures/server.ts'

const root = join(import.meta.dirname, '../..')
const START_MS = 120_000
const unit = readFileSync(join(root, 'deploy/systemd/berth.service'), 'utf8')
const [, ofTheUnit = ''] = /^ExecStart=(.*)$/m.exec(unit) ?? []

for (const command of [ofTheUnit, 'npm start']) {
  test(`"${command}" ends with code 0 and leaves nothing when only its first process gets SIGTERM`, async (t) => {
    const server = start(t, command.split(' '))
    await eventually(
      () => `the server is ready; it printed:\n${server.output()}`,
      () => server.output().includes('Try it:') || server.hasEnded(),
      START_MS,
    )
    assert.equal(server.hasEnded(), false, server.output())
    server.child.kill('SIGTERM')
    assert.equal(await server.exited, 0, server.output())
    // The directory of the data is removed once no process uses it, or the test fails.
  })
}

function start(t: TestContext, [program, ...args]: readonly string[]) {
  const dataDir = tempDir(t)
  const child = spawn(program!, args, {
    cwd: root,
    env: serverEnv({ BERTH_DATA_DIR: dataDir }),
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, so that the test can end what a failure leaves.
    detached: true,
  })
  let output = ''
  let hasEnded = false
  const collect = (chunk: Buffer) => (output += chunk.toString())
  child.stdout.on('data', collect)
  child.stderr.on('data', collect)
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const ended = exited.then(() => (hasEnded = true))
  cleanUpAfter(t, async () => {
    try {
      process.kill(-child.pid!, 'SIGKILL')
    } catch {
      // Nothing of it is left, as it should be.
    }
    await ended
  })
  return { child, exited, output: () => output, hasEnded: () => hasEnded }
}
