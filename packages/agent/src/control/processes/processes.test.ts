// Runs programs outside an instance.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Readable } from 'node:stream'
import { FrameSplitter } from '@berth/codecs/frames/frames'
import { ControlError } from '../calls/operation.ts'
import { exec } from './exec.ts'
import type { ManagedProcess } from './managed-process.ts'
import { Pipes } from './pipes.ts'
import { Processes } from './processes.ts'
import { toProgram, type ProgramRequest } from './program.ts'

const directory = mkdtempSync(join(tmpdir(), 'berth-processes-'))
after(() => rmSync(directory, { recursive: true }))

const pipes = new Pipes()
const never = new AbortController().signal
const counts: number[] = []
const processes = new Processes({ directory, pipes, onCount: (running) => counts.push(running) })
after(() => processes.kill())

const surroundings = { home: directory, environment: { PATH: '/usr/bin:/bin', COMMON: 'common' } }
const program = (asked: ProgramRequest) => toProgram(asked, surroundings)
const shell = (script: string): ProgramRequest => ({ command: 'sh', args: ['-c', script] })

interface ExecResult {
  readonly exit_code: number
  readonly stdout: string
  readonly stderr: string
  readonly duration_ms: number
  readonly stdout_dropped_bytes?: number
}

const decode = (text: string) => Buffer.from(text, 'base64').toString()

async function run(
  asked: ProgramRequest,
  { signal = never }: { signal?: AbortSignal } = {},
): Promise<ExecResult> {
  const result = await exec(program(asked), { pipes, timeoutSeconds: asked.timeout_sec ?? 0, signal })
  const { stdout_b64, stderr_b64, ...rest } = result as ExecResult &
    Record<'stdout_b64' | 'stderr_b64', string>
  return { ...rest, stdout: decode(stdout_b64), stderr: decode(stderr_b64) }
}

const spawn = (asked: ProgramRequest, terminal?: { rows: number; cols: number }) =>
  processes.spawn(program(asked), { timeoutSeconds: asked.timeout_sec ?? 0, terminal })

async function readAll(output: Readable): Promise<{ stdout: string; stderr: string; events: object[] }> {
  const splitter = new FrameSplitter({ maxBytes: 65_536 })
  const read = { stdout: '', stderr: '', events: [] as object[] }
  for await (const chunk of output as AsyncIterable<Buffer>) {
    for (const { kind, payload } of splitter.split(chunk)) {
      if (kind === 1) read.stdout += payload.toString()
      else if (kind === 2) read.stderr += payload.toString()
      else read.events.push(JSON.parse(payload.toString()) as object)
    }
  }
  return read
}

const isRefused = (code: string, message: RegExp) => (error: unknown) => {
  assert.ok(error instanceof ControlError, String(error))
  assert.equal(error.code, code)
  assert.match(error.message, message)
  return true
}

const statusOf = (process: ManagedProcess) => process.status() as { cpu_pct: number; mem_bytes: number }

/** Waits until the process has written it. */
async function wrote(process: ManagedProcess, text: string | RegExp): Promise<void> {
  const isThere = (all: string) => (typeof text === 'string' ? all.includes(text) : text.test(all))
  const splitter = new FrameSplitter({ maxBytes: 65_536 })
  let seen = ''
  for await (const chunk of process.output() as AsyncIterable<Buffer>) {
    for (const { payload } of splitter.split(chunk)) seen += payload.toString()
    if (isThere(seen)) return
  }
  assert.fail(`it never wrote ${String(text)}, but ${JSON.stringify(seen)}`)
}

function stateOf(pid: number): string {
  try {
    return / ([A-Z]) /.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))![1]!
  } catch {
    return ''
  }
}

test('a program gets its arguments unchanged, its directory and its variables', async () => {
  const args = ['a b', '$HOME', '*', '"', '', 'ü']
  const result = await run({
    command: 'sh',
    args: ['-c', 'printf "%s|" "$@"; pwd; echo "$COMMON $OWN" >&2; exit 7', 'sh', ...args],
    cwd: '/usr',
    env: { OWN: 'own' },
  })
  assert.equal(result.stdout, `${args.join('|')}|/usr\n`)
  assert.equal(result.stderr, 'common own\n')
  assert.equal(result.exit_code, 7)
})

test('a shell can open /dev/stdout, /dev/stderr and /dev/stdin', async () => {
  const { stdout, stderr, exit_code } = await run(shell('echo o > /dev/stdout; echo e > /dev/stderr'))
  assert.deepEqual({ stdout, stderr, exit_code }, { stdout: 'o\n', stderr: 'e\n', exit_code: 0 })
  const reading = await spawn({ command: 'cat', args: ['/dev/stdin'] })
  await reading.write(Buffer.from('in'), { andClose: true })
  assert.equal((await readAll(reading.output())).stdout, 'in')
})

test('a program ended by a signal has the exit code that a shell would show', async () => {
  assert.equal((await run(shell('kill -TERM $$'))).exit_code, 143)
  for (const [signal, code] of [
    ['TERM', 143],
    ['KILL', 137],
    ['INT', 130],
    ['HUP', 129],
  ] as const) {
    const process = await spawn({ command: 'sleep', args: ['100'] })
    process.kill(signal)
    assert.deepEqual((await readAll(process.output())).events, [{ event: 'exit', exit_code: code }])
    assert.deepEqual(process.status(), { state: 'exited', exit_code: code, cpu_pct: 0, mem_bytes: 0 })
    assert.throws(() => process.kill(signal), isRefused('conflict', new RegExp(`ended with code ${code}`)))
  }
})

test('a program that cannot run is refused with the reason', async () => {
  writeFileSync(join(directory, 'data'), 'no program', { mode: 0o600 })
  const refusals: [ProgramRequest, RegExp][] = [
    [{ command: 'no-such-program' }, /"no-such-program": there is no such program/],
    [{ command: './data' }, /"\.\/data": it is not a program/],
    [{ command: '/usr' }, /"\/usr": it is not a program/],
    [{ command: 'true', cwd: '/no/where' }, /in "\/no\/where": there is no such directory/],
    [{ command: 'true', cwd: join(directory, 'data') }, /refuses it with ENOTDIR|not a directory/],
    [{ command: 'true', args: ['x'.repeat(200_000)] }, /longer than the system allows/],
    [{ command: 'true', args: ['a\0b'] }, /NUL/],
    [{ command: 'true', env: { 'A=B': 'c' } }, /"A=B"/],
    [{ command: 'true', env: { A: 'b\0' } }, /NUL/],
    [{ command: 'true', as_user: 'somebody' }, /only user/],
    [{ command: 'true', as_user: '4711' }, /only user/],
    [{ command: 'true', as_user: 'root', as_root: true }, /together/],
  ]
  for (const [asked, reason] of refusals) {
    await assert.rejects(async () => run(asked), isRefused('bad_request', reason))
    await assert.rejects(async () => spawn(asked), isRefused('bad_request', reason))
    await assert.rejects(async () => spawn(asked, { rows: 1, cols: 1 }), isRefused('bad_request', reason))
  }
  assert.equal(processes.count, 0)
})

test('a program that takes too long is ended with its whole process group', async () => {
  const late = run({ ...shell('sleep 100 & sleep 100'), timeout_sec: 1 })
  await assert.rejects(late, isRefused('process_timed_out', /longer than 1 s/))
  const spawned = await spawn({ ...shell('sleep 100 & echo $!; wait'), timeout_sec: 1 })
  const { stdout, events } = await readAll(spawned.output())
  assert.deepEqual(events, [{ event: 'exit', exit_code: 137 }])
  assert.equal((spawned.status() as { timed_out?: boolean }).timed_out, true)
  // An orphan may still be a zombie.
  assert.ok(['', 'Z'].includes(stateOf(Number(stdout))), stateOf(Number(stdout)))
})

test('a program ends when its caller leaves', async () => {
  const leaving = new AbortController()
  const running = run(shell('echo $$ > pid; exec sleep 100'), { signal: leaving.signal })
  setTimeout(() => leaving.abort(), 200)
  assert.equal((await running).exit_code, 137)
})

test('a program that leaves children behind counts as ended, and the children live on', async () => {
  const { stdout, exit_code, duration_ms } = await run(shell('sleep 5 & echo $!'))
  assert.equal(exit_code, 0)
  assert.ok(duration_ms < 3000, `${duration_ms} ms`)
  process.kill(Number(stdout), 0)
  process.kill(Number(stdout), 'SIGKILL')
})

test('exec returns the first 8 MB of each output, and says how much is left out', async () => {
  const { stdout, stderr, stdout_dropped_bytes } = await run(
    shell('head -c 10000000 /dev/zero | tr "\\0" x; echo short >&2'),
  )
  const limit = 8 * 1024 * 1024
  assert.equal(stdout_dropped_bytes, 10_000_000 - limit)
  assert.equal(stdout.slice(limit), `\n[berth: ${10_000_000 - limit} more bytes are left out]\n`)
  assert.equal(stderr, 'short\n')
})

test('stdin is written in order, waits for its reader up to a limit, and can be closed', async () => {
  const cat = await spawn({ command: 'cat' })
  const parts = Array.from({ length: 20 }, (_, index) => `${index} ${'x'.repeat(50_000)}\n`)
  await Promise.all(parts.map((part) => cat.write(Buffer.from(part))))
  await cat.write(Buffer.alloc(0), { andClose: true })
  assert.equal((await readAll(cat.output())).stdout, parts.join(''))
  await assert.rejects(cat.write(Buffer.from('late')), isRefused('conflict', /ended with code 0/))

  const closed = await spawn(shell('exec 0<&-; sleep 100'))
  const reading = await spawn({ command: 'sleep', args: ['100'] })
  await reading.write(Buffer.from('x'), { andClose: true })
  await assert.rejects(reading.write(Buffer.from('y')), isRefused('conflict', /stdin is closed/))
  for (const process of [closed, reading]) process.kill('KILL')
})

test('the status reports what the process and its children use', { timeout: 20_000 }, async () => {
  const busy = await spawn(shell('sh -c "while :; do :; done" & wait'))
  const idle = await spawn({ command: 'sleep', args: ['100'] })
  statusOf(busy)
  await new Promise((resolve) => setTimeout(resolve, 500))
  const { cpu_pct, mem_bytes } = statusOf(busy)
  // A busy machine gives it only a part of a processor.
  assert.ok(cpu_pct > 5 && cpu_pct <= 130, `${cpu_pct} %`)
  assert.ok(mem_bytes > 100_000 && mem_bytes < 50_000_000, `${mem_bytes} bytes`)
  assert.ok(statusOf(idle).cpu_pct < 5)
  for (const process of [busy, idle]) process.kill('KILL')
  await Promise.all([busy.ended, idle.ended])
})

test('a terminal has the size asked for from the start, follows a new one, and echoes', async () => {
  const terminal = await spawn(
    shell(
      'stty size; tty; echo $TERM; trap "stty size" WINCH; echo ready; until read line; do :; done; echo "got $line"; exit 5',
    ),
    { rows: 33, cols: 77 },
  )
  await wrote(terminal, 'ready')
  await terminal.resize({ rows: 11, cols: 22 })
  await wrote(terminal, '11 22')
  await terminal.write(Buffer.from('hello\r'))
  const { stdout, events } = await readAll(terminal.output())
  assert.match(stdout, /^33 77\r\n\/dev\/pts\/\d+\r\nxterm-256color\r\n/)
  assert.match(stdout, /hello\r\ngot hello\r\n$/)
  assert.deepEqual(events, [{ event: 'exit', exit_code: 5 }])
  await assert.rejects(terminal.resize({ rows: 1, cols: 1 }), isRefused('conflict', /ended/))
})

test('Ctrl-C reaches the program in front, and Ctrl-D ends the shell', async () => {
  const terminal = await spawn(
    { command: 'bash', args: ['--norc', '-i'], env: { PS1: 'prompt>' } },
    { rows: 24, cols: 80 },
  )
  await wrote(terminal, 'prompt>')
  await terminal.write(Buffer.from(`sh -c "echo r'u'ns; exec sleep 100"\r`))
  await wrote(terminal, 'runs\r\n')
  await terminal.write(Buffer.from([3]))
  // Earlier input would be lost: an interrupted terminal discards its input queue.
  await wrote(terminal, /runs\r\n[^]*prompt>/)
  await terminal.write(Buffer.from('echo code $?\r'))
  // Until the shell reads again, it would take Ctrl-D for the end of a line.
  await wrote(terminal, /code 130\r\n[^]*prompt>/)
  await terminal.write(Buffer.alloc(0), { andClose: true })
  assert.deepEqual((await readAll(terminal.output())).events, [{ event: 'exit', exit_code: 0 }])
})

test('variables of a program in a terminal do not affect the helper that starts it', async () => {
  const asked = { command: 'sh', args: ['-c', 'echo "$PERL5OPT $TERM $COMMON"'] }
  const env = { PERL5OPT: '-Mnonsense', TERM: 'dumb' }
  const terminal = await spawn({ ...asked, env }, { rows: 24, cols: 80 })
  assert.equal((await readAll(terminal.output())).stdout, '-Mnonsense dumb common\r\n')
})

test('a program in a terminal that exits at once counts as ended', { timeout: 20_000 }, async () => {
  const short = await Promise.all(
    Array.from({ length: 20 }, () => spawn({ command: 'true' }, { rows: 24, cols: 80 })),
  )
  await Promise.all(short.map(({ ended }) => ended))
})

test('a process without a terminal cannot be resized', async () => {
  const process = await spawn({ command: 'sleep', args: ['100'] })
  await assert.rejects(process.resize({ rows: 1, cols: 1 }), isRefused('bad_request', /no terminal/))
  process.kill('KILL')
  await process.ended
})

test('the number of running programs is reported, and the most recently ended ones stay known', async () => {
  counts.length = 0
  const first = await spawn({ command: 'true' })
  const second = await spawn({ command: 'sleep', args: ['100'] })
  await first.ended
  assert.equal(processes.get(first.id), first)
  second.kill('KILL')
  await second.ended
  assert.deepEqual(counts.at(-1), 0)
  assert.equal(Math.max(...counts), 2)
  assert.throws(() => processes.get('nothing'), isRefused('not_found', /"nothing"/))
  for (let count = 0; count < 256; count += 32) {
    const batch = await Promise.all(Array.from({ length: 32 }, () => spawn({ command: 'true' })))
    await Promise.all(batch.map(({ ended }) => ended))
  }
  assert.throws(() => processes.get(first.id), isRefused('not_found', new RegExp(first.id)))
})

test('the number of concurrent programs is limited', async () => {
  const all = await Promise.all(Array.from({ length: 256 }, () => spawn({ command: 'sleep', args: ['100'] })))
  await assert.rejects(spawn({ command: 'true' }), isRefused('conflict', /256 processes run/))
  for (const process of all) process.kill('KILL')
  await Promise.all(all.map(({ ended }) => ended))
})

test('an ended program leaves no file and no descriptor', async () => {
  const before = readdirSync('/proc/self/fd').length
  for (let count = 0; count < 20; count++) await run(shell('echo out; echo err >&2'))
  const child = await spawn(shell('echo kept'))
  await child.ended
  await once(child.output().resume(), 'end')
  const grown = readdirSync('/proc/self/fd').length - before
  assert.ok(grown < 30, `${grown} more descriptors`)
  assert.deepEqual(readdirSync(directory).toSorted(), ['data', 'pid'])
})
