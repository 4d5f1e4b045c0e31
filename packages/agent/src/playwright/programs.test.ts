import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { Settings } from '../instance/settings.ts'

// The build puts it in the place of the name.
Object.assign(globalThis, { PLAYWRIGHT_VERSION: '1.65' })
const { Programs } = await import('./programs.ts')

/** Says which file it is and its pid, and ends with its parent. */
const STAND_IN = `process.stdin.on('close', () => process.exit()).resume()
  require('node:net').createServer((socket) => socket.write(process.pid + ' ' + __filename))
    .listen('\\0' + process.argv[3], () => console.log('ready'))`

function makePrograms(t: TestContext, files: Record<string, string>) {
  const directory = mkdtempSync(join(tmpdir(), 'berth-playwright-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text)
  const playwrightRunner = join(directory, 'playwright.cjs')
  const ports = { devtools: 1, proxy: 2 }
  // SAFETY: the programs need no other settings.
  const settings = { home: directory, playwrightRunner, ports } as Settings
  return new Programs(settings)
}

async function read(socket: Socket): Promise<{ pid: number; file: string }> {
  const [chunk] = (await once(socket, 'data')) as [Buffer]
  const [pid, file] = chunk.toString().split(' ')
  return { pid: Number(pid), file: file! }
}

test('each version is served by its own file, and the built-in one serves who does not say a version', async (t) => {
  const programs = makePrograms(t, {
    'playwright.cjs': STAND_IN,
    'playwright-1.64.cjs': STAND_IN,
    'playwright-1.65.cjs': 'throw new Error("the built-in version is preferred")',
    'playwright-x.cjs': '',
    node: '',
  })
  assert.deepEqual(programs.versions, ['1.65', '1.64'])
  assert.equal(programs.of('1.63'), undefined)
  assert.equal(programs.of('1.65'), programs.of())
  for (const [version, name] of [
    ['1.65', 'playwright.cjs'],
    ['1.64', 'playwright-1.64.cjs'],
  ] as const) {
    const program = programs.of(version)!
    t.after(() => program.kill())
    const [one, other] = await Promise.all([program.connect(), program.connect()])
    const seen = await Promise.all([read(one), read(other)])
    assert.ok(seen[0].file.endsWith(`/${name}`), seen[0].file)
    assert.equal(seen[0].pid, seen[1].pid, 'one program for all clients of a version')
    one.destroy()
    other.destroy()
  }
})

test('a program that was killed is started again for the next client', async (t) => {
  const programs = makePrograms(t, { 'playwright.cjs': STAND_IN })
  const program = programs.of()!
  const socket = await program.connect()
  const { pid } = await read(socket)
  process.kill(pid, 'SIGKILL')
  await once(socket, 'close')
  while (!program.isOver) await new Promise(setImmediate)
  const next = programs.of()!
  t.after(() => next.kill())
  assert.notEqual(next, program)
  const again = await next.connect()
  assert.notEqual((await read(again)).pid, pid)
  again.destroy()
})

test('a program that cannot start is a failure for its clients', async (t) => {
  const programs = makePrograms(t, { 'playwright.cjs': 'process.exit(3)' })
  await assert.rejects(programs.of()!.connect(), /Playwright 1\.65 has ended: 3/)
})
