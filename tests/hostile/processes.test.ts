// Hostile process requests and hostile programs end in a refusal or an exit code, and the session continues.
import assert from 'node:assert/strict'
import { after, afterEach, test } from 'node:test'
import { eventually } from '../fixtures/host.ts'
import { linesAboutTheHost } from '../fixtures/host-paths.ts'
import { createSession, send } from '../fixtures/sessions.ts'
import { startServer } from '../fixtures/server.ts'

const server = await startServer({ after }, { hasRealInstances: true })
const session = await createSession(server)
const neighbour = await createSession(server)
const at = (path: string, { session_id } = session) => `/browsers/${session_id}${path}`

interface ExecResult {
  readonly exit_code: number
  readonly stdout_b64: string
  readonly stderr_b64: string
}

const exec = (body: object) => send<ExecResult>(server, 'POST', at('/process/exec'), body)
const sh = (script: string) => ({ command: 'sh', args: ['-c', script] })
const text = (base64: string) => Buffer.from(base64, 'base64').toString()

async function output(script: string): Promise<string> {
  const { status, body } = await exec({ ...sh(script), timeout_sec: 30 })
  assert.equal(status, 200, JSON.stringify(body))
  return text(body.stdout_b64) + text(body.stderr_b64)
}

async function spawn(body: object): Promise<string> {
  const answer = await send<{ process_id: string }>(server, 'POST', at('/process/spawn'), body)
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body.process_id
}

afterEach(async () => {
  assert.equal(await output('echo well'), 'well\n', 'a normal request right after')
})

test('arguments that are too many or too long are refused', async () => {
  const cases: [object, number[]][] = [
    [{ command: 'true', args: Array(1_000_000).fill('') }, [413]],
    [{ command: 'true', args: Array(100_000).fill('ab') }, [200, 400]],
    [{ command: 'true', args: ['x'.repeat(3_000_000)] }, [413]],
    [{ command: 'true', args: ['x'.repeat(200_000)] }, [400]],
    [{ command: 'true', env: { LONG: 'x'.repeat(200_000) } }, [400]],
    [{ command: 'x'.repeat(5000) }, [400]],
    [{ command: '/'.repeat(4096) }, [400]],
  ]
  for (const [body, statuses] of cases) {
    const answer = await exec(body)
    assert.ok(
      statuses.includes(answer.status),
      `${answer.status} ${JSON.stringify(answer.body).slice(0, 200)}`,
    )
    assert.ok(answer.body.message === undefined || answer.body.message.length < 2001)
  }
})

test('an invalid program, directory or text is refused by name', async () => {
  const cases: [object, RegExp][] = [
    [{ command: 'no-such-program' }, /"no-such-program"/],
    [{ command: '/etc/passwd' }, /"\/etc\/passwd": it is not a program/],
    [{ command: '/' }, /"\/"/],
    [{ command: 'true', cwd: '/no/where' }, /"\/no\/where"/],
    [{ command: 'true', cwd: '/etc/passwd' }, /"\/etc\/passwd"|ENOTDIR/],
    [{ command: 'true', cwd: '/tmp/\0' }, /cwd/],
    [{ command: 'true', args: ['a\0b'] }, /NUL/],
    [{ command: 'true', env: { 'A\0': 'b' } }, /variable/],
    [{ command: 'true', env: { '': 'b' } }, /variable/],
    [{ command: 'true', env: { __proto__: null, 'A=B': 'c' } }, /variable/],
    [{ command: 'tr\0ue' }, /command/],
    [{ command: '' }, /command/],
    [{ command: 'true', cwd: 'tmp' }, /cwd/],
    [{ command: 'true', args: 'x' }, /args/],
    [{ command: 'true', args: [1] }, /args/],
    [{ command: 'true', timeout_sec: -1 }, /timeout_sec/],
    [{ command: 'true', timeout_sec: 1e12 }, /timeout_sec/],
    [{ command: 'true', timeout_sec: 0.5 }, /timeout_sec/],
    [{ command: 'true', as_user: 'root' }, /"root"/],
    [{ command: 'true', as_user: '0' }, /"0"/],
    [{ command: 'true', as_user: '--help' }, /"--help"/],
    [{ command: 'true', shell: true }, /shell/],
  ]
  for (const [body, reason] of cases) {
    for (const path of ['/process/exec', '/process/spawn']) {
      const { status, body: answer } = await send(server, 'POST', at(path), body)
      assert.equal(status, 400, `${JSON.stringify(body)}: ${JSON.stringify(answer)}`)
      assert.match(JSON.stringify(answer).replaceAll('\\"', '"'), reason)
    }
  }
})

test('a timeout of 0 means no timeout, and a preloaded library harms only its own program', async () => {
  assert.equal((await exec({ command: 'true', timeout_sec: 0 })).body.exit_code, 0)
  assert.equal((await exec({ command: 'true', timeout_sec: null })).body.exit_code, 0)
  for (const env of [
    { LD_PRELOAD: '/no/such.so' },
    { LD_PRELOAD: '/etc/passwd' },
    { PATH: '' },
    { HOME: '/no' },
  ]) {
    const { status, body } = await exec({ command: '/bin/true', env })
    assert.equal(status, 200, JSON.stringify(body))
    assert.equal(body.exit_code, 0)
  }
  const rooted = await exec({ command: 'true', as_root: true, env: { LD_PRELOAD: '/no/such.so' } })
  assert.equal(rooted.status, 200)
})

test('only the four signals can be sent, and only to processes of this session', async () => {
  const processId = await spawn({ command: 'sleep', args: ['100'] })
  const kill = (id: string, signal: unknown, whose = session) =>
    send(server, 'POST', at(`/process/${id}/kill`, whose), { signal })
  for (const signal of ['STOP', '0', 0, 9, 'term', 'SIGTERM', '', null, ['TERM']]) {
    assert.equal((await kill(processId, signal)).status, 400, JSON.stringify(signal))
  }
  assert.equal((await kill(processId, 'KILL', neighbour)).status, 404)
  for (const id of [
    '1',
    '0',
    '-1',
    'not-a-uuid',
    '%2e%2e',
    'a'.repeat(200),
    '00000000-0000-0000-0000-000000000000',
  ]) {
    assert.equal((await kill(id, 'KILL')).status, 404, id)
  }
  const status = await send<{ state: string }>(server, 'GET', at(`/process/${processId}/status`))
  assert.equal(status.body.state, 'running')
  assert.equal((await kill(processId, 'KILL')).status, 200)
})

test('programs may not use dangerous kernel interfaces', async () => {
  const seen = await output(`
    touch /usr/x; touch /etc/x; rm /run/berth/egress.sock; echo > /run/berth-agent/agent.mjs
    mount -t tmpfs none /mnt; unshare --mount true; nsenter -t 1 -n true`)
  const refusals = seen.match(
    /Read-only file system|Operation not permitted|Permission denied|must be superuser/g,
  )
  assert.ok((refusals?.length ?? 0) >= 6, seen)
})

test('/proc shows nothing of the host', async () => {
  const seen = await output(
    'cat /proc/1/environ /proc/*/cmdline /proc/self/mountinfo | tr "\\0" "\\n"; ls -l /proc/self/fd',
  )
  assert.ok(!seen.includes(server.key))
  assert.doesNotMatch(seen, /BERTH_|DATABASE_URL/)
  const all = await output(
    'cd /proc; cat [0-9]*/mountinfo [0-9]*/mounts [0-9]*/cgroup [0-9]*/maps [0-9]*/cmdline 2>&1 | sort -u',
  )
  assert.deepEqual(linesAboutTheHost(all, [server.dataDir]), [])
  const descriptors = seen.match(/ (\d+) -> /g)!.map((each) => Number(each.split(' ')[1]))
  assert.ok(Math.max(...descriptors) <= 3, `${descriptors.join(' ')}: no descriptors but its own`)
})

test('programs that flood, fork or use up memory end within their instance', async () => {
  const flood = await exec({ ...sh('yes & yes >&2'), timeout_sec: 2 })
  assert.equal(flood.status, 422)
  // A shell would give up when it cannot fork.
  const forking = 'while (1) { my $child = fork; if (defined $child && !$child) { sleep 100; exit } }'
  const fork = await exec({ command: 'perl', args: ['-e', forking], timeout_sec: 3 })
  assert.equal(fork.status, 422)
  assert.equal((await send(server, 'GET', at('/fs/file_info?path=/', neighbour))).status, 200)
})

test('a reader that does not read, and more streams than a session allows', async () => {
  const processId = await spawn(sh('yes'))
  const path = at(`/process/${processId}/stdout/stream`)
  const leaving = new AbortController()
  const answers = await Promise.all(
    Array.from({ length: 140 }, () => server.fetch(path, { signal: leaving.signal })),
  )
  const statuses = Map.groupBy(answers, ({ status }) => status)
  assert.equal(statuses.get(200)?.length, 128)
  assert.equal(statuses.get(429)?.length, 12)
  assert.ok(statuses.get(429)![0]!.headers.get('retry-after'))
  leaving.abort()
  await eventually('there is room again', async () => {
    const { status } = await send(server, 'POST', at(`/process/${processId}/kill`), { signal: 'KILL' })
    return status === 200
  })
})

test('no program of the tenant can signal, read or stand in for the agent', async () => {
  const attack = `
for place in /proc/[0-9]*; do
  grep -qz '[b]erth-agent/agent.mjs' "$place/cmdline" 2>/dev/null && agent=\${place#/proc/}
done
stat -Lc %U "/proc/$agent" /home/kernel /proc/self
for signal in KILL STOP TERM 0; do kill -s $signal $agent 2>/dev/null && echo "could send $signal"; done
for file in environ maps mem; do cat "/proc/$agent/$file" >/dev/null 2>&1 && echo "could read $file"; done
ls "/proc/$agent/fd" "/proc/$agent/root/" 2>/dev/null
ls /proc/self/fd
test -e /run/berth/link.sock && echo "there is a link"
grep -E '^Cap(Inh|Prm|Eff|Bnd|Amb):.*[1-9a-f]' /proc/self/status
setpriv --reuid=0 true 2>/dev/null && echo "could become root"
true`
  assert.equal(await output(attack), 'root\nkernel\nkernel\n0\n1\n2\n3\n')
  assert.match(await output('kill -KILL -1; echo here'), /^(here\n)?$/)
  // The agent is still there, and its files are still the tenant's.
  const put = await server.fetch(at('/fs/write_file?path=/home/kernel/mine'), { method: 'PUT', body: 'x' })
  assert.equal(put.status, 201)
  assert.equal(await output('stat -c "%U %G" /home/kernel/mine'), 'kernel kernel\n')
})
