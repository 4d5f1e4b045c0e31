// The resources `browsers.process` and `browsers.logs` in each version of the published client, with a key and
// directly with the session token, in a real instance.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { startServer } from '../fixtures/server.ts'
import { client55, client70, client84 } from './versions.ts'

const server = await startServer({ after }, { hasRealInstances: true })
const session = await client84(server).browsers.create({ headless: true, timeout_seconds: 300 })
const id = session.session_id

const text = (base64: string | undefined) => Buffer.from(base64 ?? '', 'base64').toString()
const base64 = (plain: string) => Buffer.from(plain).toString('base64')

interface OutputEvent {
  stream?: 'stdout' | 'stderr'
  data_b64?: string
  event?: string
  exit_code?: number
}

async function collect(events: AsyncIterable<OutputEvent>) {
  const output = { stdout: '', stderr: '', last: undefined as OutputEvent | undefined }
  for await (const event of events) {
    output.last = event
    if (event.stream) output[event.stream] += text(event.data_b64)
  }
  return output
}

/** Requests that did not use the session's own address. */
let throughServer: string[] = []
const watched: typeof fetch = (input, init) => {
  const url = new URL(input instanceof Request ? input.url : input)
  throughServer.push(url.pathname)
  return fetch(input, init)
}

const clients = {
  '0.55.0': client55(server),
  '0.70.0': client70(server),
  '0.84.0': client84(server),
  '0.84.0 with direct routing': await directClient(),
}

/** It learns the route when it reads the session. */
async function directClient() {
  process.env['KERNEL_BROWSER_ROUTING_SUBRESOURCES'] = 'process,logs'
  const client = client84(server, { fetch: watched })
  await client.browsers.retrieve(id)
  delete process.env['KERNEL_BROWSER_ROUTING_SUBRESOURCES']
  return client
}

for (const [version, { browsers }] of Object.entries(clients)) {
  describe(`client ${version}`, () => {
    test('exec returns the exit code and output of a program', async () => {
      const result = await browsers.process.exec(id, {
        command: 'sh',
        args: ['-c', 'pwd; echo "$GREETING" >&2; exit 3'],
        cwd: '/usr/share',
        env: { GREETING: 'hello' },
        timeout_sec: 20,
      })
      assert.equal(result.exit_code, 3)
      assert.equal(text(result.stdout_b64), '/usr/share\n')
      assert.equal(text(result.stderr_b64), 'hello\n')
      assert.ok(result.duration_ms! >= 0 && result.duration_ms! < 10_000)
    })

    test('spawn, stdin, status, the output stream and its last event work', async () => {
      const { process_id, pid, started_at } = await browsers.process.spawn(id, {
        command: 'sh',
        args: ['-c', 'read line; echo "out $line"; echo err >&2; exit 4'],
      })
      assert.match(process_id!, /^[0-9a-f-]{36}$/)
      assert.ok(pid! > 1)
      assert.ok(Math.abs(Date.parse(started_at!) - Date.now()) < 60_000)
      const running = await browsers.process.status(process_id!, { id })
      assert.equal(running.state, 'running')
      assert.equal(running.exit_code, null)
      assert.ok(running.mem_bytes! > 0)
      const output = collect(await browsers.process.stdoutStream(process_id!, { id }))
      const written = await browsers.process.stdin(process_id!, { id, data_b64: base64('line\n') })
      assert.equal(written.written_bytes, 5)
      assert.deepEqual(await output, {
        stdout: 'out line\n',
        stderr: 'err\n',
        last: { event: 'exit', exit_code: 4 },
      })
      const exited = await browsers.process.status(process_id!, { id })
      assert.deepEqual(exited, { state: 'exited', exit_code: 4, cpu_pct: 0, mem_bytes: 0 })
      const again = collect(await browsers.process.stdoutStream(process_id!, { id }))
      assert.deepEqual(await again, await output)
    })

    test('a signal ends it, and the exit code shows which', async () => {
      const { process_id } = await browsers.process.spawn(id, { command: 'sleep', args: ['100'] })
      assert.deepEqual(await browsers.process.kill(process_id!, { id, signal: 'TERM' }), { ok: true })
      const { last } = await collect(await browsers.process.stdoutStream(process_id!, { id }))
      assert.deepEqual(last, { event: 'exit', exit_code: 143 })
      await assert.rejects(browsers.process.kill(process_id!, { id, signal: 'TERM' }), { status: 409 })
      const unknown = '00000000-0000-4000-8000-000000000000'
      await assert.rejects(browsers.process.kill(unknown, { id, signal: 'TERM' }), { status: 404 })
    })

    test('a log is read to its end, and followed from its end', async () => {
      const path = '/tmp/followed.log'
      const write = (script: string) =>
        browsers.process.exec(id, { command: 'sh', args: ['-c', script, 'sh', path] })
      await write('printf "one\\ntwo" > "$1"')
      const read: string[] = []
      for await (const { event, message } of await browsers.logs.stream(id, {
        source: 'path',
        path,
        follow: false,
      })) {
        assert.equal(event, 'log')
        read.push(message)
      }
      assert.deepEqual(read, ['one', 'two'])

      const followed = await browsers.logs.stream(id, { source: 'path', path, follow: true })
      await write('printf "\\nthree\\n" >> "$1"')
      const seen: string[] = []
      for await (const { message } of followed) {
        seen.push(message)
        if (message === 'three') break
      }
      // From the end on; the end of the existing line becomes an empty line.
      assert.deepEqual(seen, ['', 'three'])
      await assert.rejects(
        async () => browsers.logs.stream(id, { source: 'path', path: '/tmp/no.log', follow: false }),
        { status: 404, message: /\/tmp\/no\.log/ },
      )
    })
  })
}

test('a terminal is resized', async () => {
  const { process: processes } = client84(server).browsers
  const { process_id } = await processes.spawn(id, {
    command: 'sh',
    args: ['-c', 'stty size; read line; stty size'],
    allocate_tty: true,
    rows: 40,
    cols: 100,
  })
  assert.deepEqual(await processes.resize(process_id!, { id, rows: 20, cols: 50 }), { ok: true })
  await processes.stdin(process_id!, { id, data_b64: base64('\r') })
  const { stdout, last } = await collect(await processes.stdoutStream(process_id!, { id }))
  assert.equal(stdout, '40 100\r\n\r\n20 50\r\n')
  assert.deepEqual(last, { event: 'exit', exit_code: 0 })
})

test('the logs of the instance are available', async () => {
  const { logs } = client84(server).browsers
  const read = async (supervisor_process: string) => {
    const lines: string[] = []
    const stream = await logs.stream(id, { source: 'supervisor', supervisor_process, follow: false })
    for await (const { message, timestamp } of stream) {
      assert.ok(Date.parse(timestamp) > 0)
      lines.push(message)
    }
    return lines.join('\n')
  }
  assert.match(await read('chromium'), /DevTools listening on/)
  assert.equal(await read('display'), '', 'a headless one has none')
  await read('agent')
  assert.match(await read('neko'), /^\[berth: no program here is called "neko"; there are chromium, .*\]$/)
})

test('direct routing went to the session, not through the server', () => {
  assert.ok(throughServer.length > 10)
  const others = throughServer.filter((path) => !path.startsWith('/browser/kernel/'))
  assert.deepEqual(others, [`/browsers/${id}`])
  throughServer = []
})
