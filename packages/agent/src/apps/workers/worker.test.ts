// The process of an invocation, outside of an instance: the same runner, namespace and limits.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { appRunners } from '../../../build.ts'
import { MemoryWatch } from './memory-watch.ts'
import { OUT_OF_MEMORY, Worker, type Ended } from './worker.ts'

const directory = mkdtempSync(join(tmpdir(), 'berth-worker-'))
after(() => rmSync(directory, { recursive: true, force: true }))
const runners = await appRunners()
writeFileSync(join(directory, 'runner.mjs'), runners.node)
writeFileSync(join(directory, 'runner.py'), runners.python)

/** A copy of the client's registry, in either kind of module. */
const registry = `class Registry {
  apps = new Map()
  getAppByName(name) { return this.apps.get(name) }
  export() { return { apps: [...this.apps.values()].map(({ name, actions }) => ({ name, actions: [...actions.keys()].map((each) => ({ name: each })) })) } }
}
const appRegistry = new Registry()
class App {
  actions = new Map()
  constructor(name) { this.name = name; appRegistry.apps.set(name, this) }
  action(name, handler) { this.actions.set(name, { name, handler }) }
  getAction(name) { return this.actions.get(name) }
}
`

function start(files: Record<string, string>, entry: string): Worker {
  const root = mkdtempSync(join(directory, 'app-'))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  const node = [process.execPath, '--max-old-space-size=64', join(directory, 'runner.mjs'), join(root, entry)]
  const python = ['/usr/bin/python3', join(directory, 'runner.py'), join(root, entry), root]
  return new Worker({
    command: entry.endsWith('.py') ? python : node,
    cwd: root,
    env: { PATH: process.env['PATH']!, PYTHONUNBUFFERED: '1' },
    memoryMb: 64,
    isInvocation: true,
  })
}

function startActions(actions: Record<string, string>): Worker {
  const lines = Object.entries(actions).map(([name, handler]) => `app.action('${name}', ${handler})`)
  return start(
    {
      'package.json': '{"type":"module"}',
      'core/app-framework.js': `${registry}export { App, appRegistry }`,
      'index.js': `import { App } from './core/app-framework.js'\nconst app = new App('x')\n${lines.join('\n')}`,
    },
    'index.js',
  )
}

async function run(worker: Worker, action: string, payload?: string): Promise<Ended & { lines: string[] }> {
  const lines: string[] = []
  worker.follow((line) => lines.push(line) > 0)
  worker.invoke(
    { id: 'an-id', app: 'x', action, hasPayload: payload !== undefined },
    Buffer.from(payload ?? ''),
  )
  return { ...(await worker.ended), lines }
}

test('it imports, tells what it has, waits, and runs once', async () => {
  const worker = startActions({
    add: '(context, { a, b }) => { console.log("adding"); console.error("and"); console.log("done"); return { sum: a + b, ...context } }',
  })
  assert.deepEqual(JSON.parse(await worker.ready), { apps: [{ name: 'x', actions: [{ name: 'add' }] }] })
  const { output, lines } = await run(worker, 'add', '{"a":1,"b":2}')
  assert.deepEqual(JSON.parse(output!), { sum: 3, invocation_id: 'an-id' })
  assert.deepEqual(lines, ['adding', 'and', 'done'], 'both streams in one order')
})

test('a registry of CommonJS is found as well, and one in each of two copies', async () => {
  const worker = start(
    {
      'one/core/app-framework.js': `${registry}module.exports = { App, appRegistry }`,
      'two/core/app-framework.mjs': `${registry}export { App, appRegistry }`,
      'index.mjs': `import one from './one/core/app-framework.js'
import { App } from './two/core/app-framework.mjs'
new one.App('other').action('a', () => 1)
new App('x').action('b', () => 'from the second')`,
    },
    'index.mjs',
  )
  const { apps } = JSON.parse(await worker.ready) as { apps: { name: string }[] }
  assert.deepEqual(new Set(apps.map(({ name }) => name)), new Set(['other', 'x']))
  assert.equal((await run(worker, 'b')).output, '"from the second"')
})

const ends: [what: string, handler: string, reason: RegExp][] = [
  ['throws', '() => { throw new TypeError("no good") }', /^TypeError: no good$/],
  [
    'throws later',
    '() => { setTimeout(() => { throw new Error("late") }); return new Promise(() => {}) }',
    /^Error: late$/,
  ],
  [
    'rejects nobody handles',
    '() => { void Promise.reject(new Error("lost")); return new Promise(() => {}) }',
    /^Error: lost$/,
  ],
  ['exits', '() => process.exit(7)', /^Its process ended with code 7 before the action did$/],
  [
    'hoards',
    '() => { const all = []; for (;;) all.push("z".repeat(1000) + Math.random()) }',
    /^It ran out of memory/,
  ],
  [
    'floods',
    '() => { for (;;) process.stdout.write("x".repeat(999) + "\\n") }',
    /^It printed more than 16 MB/,
  ],
  ['returns a circle', '() => { const one = {}; one.one = one; return one }', /circular/],
  ['returns too much', '() => "x".repeat(5_000_001)', /^Error: The result has 5000003 bytes/],
]
for (const [what, handler, reason] of ends) {
  test(`an action that ${what} ends with the reason`, async () => {
    const ended = await run(startActions({ it: handler }), 'it')
    assert.equal(ended.output, undefined)
    assert.match(ended.reason ?? '', reason)
  })
}

test('it is the first process of its own namespace, and takes all others in it with it', async () => {
  const worker = startActions({
    it: `async () => {
      const { spawn } = await import('node:child_process')
      const child = spawn('sleep', ['1234'], { detached: true, stdio: ['ignore', 'inherit', 'inherit'] })
      child.unref()
      process.kill(-1, 0)
      return [process.pid, child.pid]
    }`,
  })
  const { output, reason } = await run(worker, 'it')
  const [own, child] = JSON.parse(output ?? '[]') as number[]
  assert.equal(own, 1, reason)
  assert.ok(child! < 100, 'threads have numbers of the same row')
})

test('one that is killed says why, and one that never imports is not ready', async () => {
  const worker = startActions({ it: '() => new Promise(() => setInterval(() => {}, 1000))' })
  await worker.ready
  const running = run(worker, 'it')
  worker.kill('Because')
  assert.equal((await running).reason, 'Because')
  const broken = start({ 'index.mjs': 'throw new Error("at import")' }, 'index.mjs')
  await assert.rejects(broken.ready, /^Error: Error: at import$/)
})

test('lines wait until somebody takes them', async () => {
  const worker = startActions({
    it: '() => { for (let n = 0; n < 5000; n++) console.log("y".repeat(500), n); return 1 }',
  })
  await worker.ready
  const lines: string[] = []
  worker.follow((line) => {
    lines.push(line)
    if (lines.length % 100 === 0) setTimeout(() => worker.resume(), 2)
    return lines.length % 100 !== 0
  })
  worker.invoke({ id: 'an-id', app: 'x', action: 'it', hasPayload: false }, Buffer.alloc(0))
  assert.equal((await worker.ended).output, '1')
  assert.deepEqual(
    lines.map((line) => Number(line.split(' ')[1])),
    Array.from({ length: 5000 }, (_, n) => n),
  )
})

test('Python is the same', async () => {
  const framework = `from dataclasses import dataclass
@dataclass
class KernelContext:
    invocation_id: str
class Named:
    def __init__(self, name, handler=None):
        self.name, self.handler, self.all = name, handler, {}
    def get_actions(self):
        return list(self.all.values())
    def get_action(self, name):
        return self.all.get(name)
    get_apps, get_app_by_name = get_actions, get_action
app_registry = Named("registry")
`
  const main = `from kernel.app_framework import app_registry, Named
app = app_registry.all["x"] = Named("x")
async def add(context, payload):
    print("adding")
    return {"sum": payload["a"], "id": context.invocation_id}
app.all["add"] = Named("add", add)
app.all["nan"] = Named("nan", lambda context, payload: float("nan"))
`
  const files = { 'src/main.py': main, 'kernel/__init__.py': '', 'kernel/app_framework.py': framework }
  const worker = start(files, 'src/main.py')
  assert.deepEqual(JSON.parse(await worker.ready), {
    apps: [{ name: 'x', actions: [{ name: 'add' }, { name: 'nan' }] }],
  })
  const { output, lines, reason } = await run(worker, 'add', '{"a":7}')
  assert.deepEqual(JSON.parse(output ?? 'null'), { sum: 7, id: 'an-id' }, reason)
  assert.deepEqual(lines, ['adding'])
  assert.match((await run(start(files, 'src/main.py'), 'nan')).reason ?? '', /ValueError/)
})

test('what the processes of one take together is too much when it is more than its limit', async () => {
  const worker = startActions({
    it: `async () => {
      const { spawn } = await import('node:child_process')
      const hoard = 'const all = Buffer.alloc(40_000_000, 1); setInterval(() => all, 1000)'
      for (let index = 0; index < 3; index++) spawn(process.execPath, ['-e', hoard])
      return new Promise(() => {})
    }`,
  })
  const watch = new MemoryWatch()
  const watched = { pid: worker.pid, memoryMb: 64, onTooMuch: () => worker.kill(OUT_OF_MEMORY) }
  watch.add(watched)
  const { reason } = await run(worker, 'it')
  watch.remove(watched)
  assert.equal(reason, OUT_OF_MEMORY)
})
