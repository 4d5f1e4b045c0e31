// The command line in a pseudo-terminal, with a real session: prompts, colours, shells, copies, Ctrl-C.
import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { eventually } from '../fixtures/host.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession, send } from '../fixtures/sessions.ts'
import { berthFor, PROGRAM } from './berth.ts'
import { openScreen } from './screen.ts'

const owner = { after }
const server = await startServer(owner, { hasRealInstances: true })
const berth = berthFor(owner, server)
const bin = join(berth.home, 'bin')
mkdirSync(bin)
writeFileSync(join(bin, 'berth'), `#!/bin/sh\nexec ${process.execPath} ${PROGRAM} "$@"\n`)
chmodSync(join(bin, 'berth'), 0o755)
const env = { ...berth.env, PATH: `${bin}:${berth.env['PATH']}`, LANG: 'C.UTF-8' }
const screenFor = (more: object = {}) => openScreen(owner, { env, cwd: berth.home, ...more })
const BOLD = '\u001b[1m'
const { session_id: id } = await createSession(server, { name: 'shell' })

test('a person is asked before something is deleted, and may say no', async () => {
  await send(server, 'POST', '/profiles', { name: 'precious' })
  const screen = screenFor()
  screen.type('berth profiles delete precious; echo "code $?"')
  screen.press('Enter')
  await screen.shows(/Delete a profile: precious\?/)
  screen.press('Enter')
  await screen.shows(/Nothing was changed[^]*code 9/)
  assert.equal((await send(server, 'GET', '/profiles/precious')).status, 200)
  screen.clear()
  screen.type('berth profiles delete precious; echo "code $?"')
  screen.press('Enter')
  await screen.shows(/Delete a profile: precious\?/)
  screen.press('y')
  await screen.shows(/Deleted precious[^]*code 0/)
  assert.equal((await send(server, 'GET', '/profiles/precious')).status, 404)
})

test('Ctrl-C at a question ends with 130 and changes nothing', async () => {
  await send(server, 'POST', '/profiles', { name: 'kept' })
  const screen = screenFor()
  screen.type('berth profiles delete kept; echo "code $?"')
  screen.press('Enter')
  await screen.shows(/Delete a profile: kept\?/)
  screen.press('C-c')
  await screen.shows(/code 130/)
  assert.equal((await send(server, 'GET', '/profiles/kept')).status, 200)
})

test('a table fits the terminal and has colours there, but not with NO_COLOR', async () => {
  const screen = screenFor({ columns: 70 })
  screen.type('berth browsers list')
  screen.press('Enter')
  const seen = await screen.shows(/SESSION|ID .*\n.*shell/)
  for (const line of seen.split('\n')) assert.ok(line.length <= 70, line)
  assert.ok(screen.read({ colours: true }).includes(BOLD))
  screen.clear()
  screen.type('NO_COLOR=1 berth browsers list; echo done')
  screen.press('Enter')
  await screen.shows(/shell[^]*^done$/m)
  assert.ok(!screen.read({ colours: true }).includes(BOLD))
})

test('the key is asked for and not shown', async () => {
  const screen = screenFor()
  screen.type(`env -u KERNEL_API_KEY berth login ${server.url}; echo "code $?"`)
  screen.press('Enter')
  await screen.shows(/API key of/)
  screen.type(server.key)
  screen.press('Enter')
  const seen = await screen.shows(/code \d/)
  assert.match(seen, /Logged in to[^]*code 0/)
  assert.ok(!seen.includes(server.key), seen)
})

test('a shell has the size of the terminal, follows it, and gives its exit code', async () => {
  const screen = screenFor({ columns: 90, rows: 25 })
  screen.type('berth browsers ssh shell; echo "code $?"')
  screen.press('Enter')
  await screen.shows(/^bash.*\$$/m)
  screen.type('stty size; echo $TERM')
  screen.press('Enter')
  await screen.shows(/25 90/)
  screen.resize(120, 40)
  await eventually('the program has heard of the size', async () => {
    screen.clear()
    screen.type('stty size')
    screen.press('Enter')
    return /^40 120/m.test(await screen.shows(/^\d+ \d+/m))
  })
  // Ctrl-C belongs to the program in the session.
  screen.clear()
  screen.type('echo sleeping; sleep 100')
  screen.press('Enter')
  await screen.shows(/^sleeping/m)
  screen.press('C-c')
  screen.type('echo still-$((40+2))')
  screen.press('Enter')
  await screen.shows(/^still-42/m)
  screen.type('exit 7')
  screen.press('Enter')
  await screen.shows(/code 7/)
  // The terminal is as it was.
  screen.type('stty -a | grep -o " echo "')
  screen.press('Enter')
  await screen.shows(/^ echo/m)
})

test('a full-screen program works in the shell', async () => {
  const screen = screenFor({ columns: 80, rows: 24 })
  screen.type('berth browsers ssh shell -- "seq 1 500 | less"')
  screen.press('Enter')
  const first = await screen.shows(/^23$/m)
  assert.match(first, /^1$/m)
  screen.press('G')
  await screen.shows(/^500$/m)
  screen.press('q')
  await screen.shows(/^\$$/m)
})

test('the program of a shell ends with its client', async () => {
  const before = await programs()
  const { code } = await berth(['browsers', 'ssh', 'shell', '--', 'sleep 1000'], {
    async during(child) {
      await eventually('it runs', async () => (await programs()) === before + 1)
      child.kill('SIGTERM')
    },
  })
  assert.equal(code, 143)
  await eventually('it has ended', async () => (await programs()) === before)
})

/** How many of these run in the session. */
async function programs(): Promise<number> {
  const { stdout } = await berth(['process', 'exec', id, '--', 'pgrep -c -x sleep || true'])
  return Number(stdout.trim())
}

test('commands run in the session, with their output and exit code', async () => {
  const ran = await berth(['process', 'exec', 'shell', '--exit-code', '--', 'echo out; echo err >&2; exit 3'])
  assert.deepEqual(ran, { code: 3, stdout: 'out\n', stderr: 'err\n' })
  const plain = await berth([
    'browsers',
    'process',
    'exec',
    'shell',
    '--command',
    '/bin/echo',
    '--args',
    'a b',
  ])
  assert.deepEqual([plain.code, plain.stdout], [0, 'a b\n'])
  const piped = await berth(['browsers', 'ssh', 'shell', '--', 'wc -c'], { stdin: 'hello\n' })
  assert.match(piped.stdout, /6/)
  const flags = await berth(['browsers', 'ssh', 'shell', '-i', 'key'])
  assert.equal(flags.code, 2)
  assert.match(flags.stderr, /Cannot use -i[^]*berth browsers cp/)
})

test('files and directories are copied both ways, also through pipes', async () => {
  const directory = join(berth.home, 'tree')
  mkdirSync(join(directory, 'deep'), { recursive: true })
  writeFileSync(join(directory, 'deep/bytes'), Buffer.from(Array.from({ length: 256 }, (_, at) => at)))
  writeFileSync(join(directory, 'run.sh'), '#!/bin/sh\necho ran\n')
  chmodSync(join(directory, 'run.sh'), 0o755)
  for (const args of [
    ['cp', '-r', directory, 'shell:/tmp/tree'],
    ['cp', '-r', 'shell:/tmp/tree', join(berth.home, 'back')],
    ['cp', join(directory, 'run.sh'), 'shell:/tmp/'],
    ['cp', 'shell:/tmp/run.sh', join(berth.home, 'one.sh')],
  ]) {
    const { code, stderr } = await berth(['browsers', ...args])
    assert.equal(code, 0, stderr)
  }
  assert.deepEqual(
    readFileSync(join(berth.home, 'back/deep/bytes')),
    readFileSync(join(directory, 'deep/bytes')),
  )
  assert.equal(readFileSync(join(berth.home, 'one.sh'), 'utf8'), '#!/bin/sh\necho ran\n')
  assert.equal((await berth(['process', 'exec', 'shell', '--', '/tmp/run.sh'])).stdout, 'ran\n')
  await berth(['fs', 'write-file', 'shell', '/tmp/piped'], { stdin: 'from a pipe' })
  assert.equal((await berth(['fs', 'cat', 'shell', '/tmp/piped'])).stdout, 'from a pipe')
  const missing = await berth(['browsers', 'cp', 'shell:/tmp/none', join(berth.home, 'none')])
  assert.equal(missing.code, 4, missing.stderr)
  assert.ok(!existsSync(join(berth.home, 'none')))
})

test('the controls of a session work from the command line', async () => {
  const code = "await page.setContent('<title>Here</title><h1>Hello</h1>'); return page.title()"
  const ran = await berth(['playwright', 'execute', 'shell'], { stdin: code })
  assert.deepEqual([ran.code, ran.stdout], [0, 'Here\n'])
  const failed = await berth(['playwright', 'execute', 'shell', 'throw new Error("no")'])
  assert.equal(failed.code, 1)
  assert.match(failed.stderr, /no/)
  const picture = join(berth.home, 'screen.png')
  assert.equal((await berth(['computer', 'screenshot', 'shell', '--to', picture])).code, 0)
  assert.equal(readFileSync(picture).subarray(1, 4).toString(), 'PNG')
  assert.equal((await berth(['computer', 'click-mouse', 'shell', '--x', '10', '--y', '10'])).code, 0)
  const pages = JSON.parse((await berth(['browsers', 'pages', 'shell', '-o', 'json'])).stdout) as {
    title: string
  }[]
  assert.equal(pages[0]?.title, 'Here')
  const repl = await berth(['repl', 'execute', 'shell', '1 + 1'])
  assert.equal(repl.code, 0, repl.stderr)
})
