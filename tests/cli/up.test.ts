// Servers that the command line starts from the clone: in the background, and in front of a person.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { freePort } from '../fixtures/free-port.ts'
import { eventually } from '../fixtures/host.ts'
import { serverEnv, tempDir } from '../fixtures/server.ts'
import { berthFor } from './berth.ts'

const owner = { after }
const START_MS = 120_000

async function place() {
  const dataDir = tempDir(owner)
  const port = await freePort()
  const berth = berthFor(owner)
  const {
    HOME: _home,
    PATH: _path,
    ...settings
  } = serverEnv({ BERTH_DATA_DIR: dataDir, BERTH_PORT: String(port) })
  const env = { ...settings, NODE_ENV: 'production' } as Record<string, string>
  return { dataDir, berth, env, url: `http://127.0.0.1:${port}` }
}

test('berth up --detach starts a server, stores its key, and --stop ends it', async () => {
  const { berth, env, url, dataDir } = await place()
  const up = await berth(['up', '--detach'], { env })
  try {
    assert.equal(up.code, 0, up.stderr)
    assert.ok(up.stderr.includes(`Berth runs at ${url}`), up.stderr)
    const projects = await berth(['projects', 'list', '-o', 'json'])
    assert.equal(projects.code, 0, projects.stderr)
    const doctor = await berth(['doctor', '-o', 'json'], { env })
    const found = JSON.parse(doctor.stdout) as { check: string; state: string; found: string }[]
    assert.equal(found.find(({ check }) => check === 'Key')?.state, 'ok', doctor.stdout)
    const again = await berth(['up', '--detach'], { env })
    assert.match(again.stderr, /runs at .* already/)
    assert.equal((await berth(['open', '--print'])).stdout, `${url}/\n`)
  } finally {
    const stopped = await berth(['up', '--stop'], { env })
    assert.equal(stopped.code, 0, stopped.stderr)
  }
  assert.ok(!existsSync(join(dataDir, 'up.pid')))
  assert.match(readFileSync(join(dataDir, 'up.log'), 'utf8'), /"msg":"stopped"/)
  assert.equal((await berth(['projects', 'list'])).code, 7)
  assert.equal((await berth(['up', '--stop'], { env })).code, 4)
})

test('berth up in the foreground ends with its server when it is told to', async () => {
  const { berth, env } = await place()
  const { code, stdout, stderr } = await berth(['up'], {
    env,
    async during(child) {
      await eventually(
        'it is ready',
        () => Promise.resolve(child.output().includes('The context "local"')),
        START_MS,
      )
      child.kill('SIGTERM')
    },
  })
  assert.equal(code, 143, stderr)
  assert.match(stdout + stderr, /Berth is ready[^]*"msg":"stopped"/)
})

test('without a clone berth up says where a server is from', async () => {
  const berth = berthFor(owner)
  const ran = await berth(['up', '--directory', '/'])
  assert.equal(ran.code, 2)
  assert.match(ran.stderr, /Cannot use \/: it is no clone of Berth/)
})
