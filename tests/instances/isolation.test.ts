// An instance is hostile as a whole: these tests try from inside what it can see and do.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readlinkSync, writeFileSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { before, describe, test } from 'node:test'
import { newId } from '@berth/kit/ids'
import type { Instance } from '@berth/server/instances/driver/driver'
import { instancesDirOf } from '@berth/server/instances/local/instances-place'
import type { LocalDriver } from '@berth/server/instances/local/local-driver'
import { SystemFiles } from '@berth/server/instances/local/system-files'
import { forbidden, type Architecture } from '@berth/server/instances/local/syscalls'
import { installationRoot } from '@berth/server/platform/files/installation'
import { linesAboutTheHost, unexpectedSources } from '../fixtures/host-paths.ts'
import {
  agentFile,
  execute,
  instanceOptions,
  makeDataDir,
  openDriver,
  processesOf,
  runInside,
  shellInside,
  skip,
  startInstance,
  suiteOwner,
} from './fixture.ts'

const canary = newId('canary')
const architecture = process.arch as Architecture

describe('an instance', { skip }, () => {
  const owner = suiteOwner()
  let driver: LocalDriver
  let instance: Instance
  const dataDir = makeDataDir(owner)

  before(async () => {
    process.env['BERTH_CANARY'] = canary
    const otherPlaywright = join(dirname(agentFile), 'playwright-1.64.cjs')
    writeFileSync(otherPlaywright, '')
    driver = await openDriver(owner, { dataDir, otherPlaywrights: [otherPlaywright] })
    assert.deepEqual(driver.shortcomings, [])
    instance = await startInstance(owner, driver)
  })

  test('has its own uid on the host and is an ordinary user inside', async () => {
    const other = await startInstance(owner, driver)
    assert.equal(await runInside(instance, 'return process.getuid() + ":" + process.getgid()'), '1000:1000')
    await runInside(other, 'return 1')
    const [mine, others] = [instance, other].map(({ id }) => new Set(processesOf(id).map(({ uid }) => uid)))
    // One for the tenant and one for the agent.
    assert.equal(mine!.size, 2)
    assert.equal(others!.size, 2)
    assert.deepEqual(
      [...mine!].filter((uid) => uid < 0x70000000 || others!.has(uid)),
      [],
    )
    await other.destroy()
  })

  test('shares no namespace with the host', async () => {
    const namespaces = ['cgroup', 'ipc', 'mnt', 'net', 'pid', 'user', 'uts']
    const inside = await runInside<Record<string, string>>(
      instance,
      `return Object.fromEntries(${JSON.stringify(namespaces)}.map((name) => [name, require('fs').readlinkSync('/proc/self/ns/' + name)]))`,
    )
    for (const name of namespaces) assert.notEqual(inside[name], readlinkSync(`/proc/self/ns/${name}`), name)
    assert.equal((await shellInside(instance, 'hostname')).stdout, 'browser\n')
  })

  test('has no privileges and cannot gain any', async () => {
    const { stdout } = await shellInside(instance, 'cat /proc/self/status')
    for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb']) {
      assert.match(stdout, new RegExp(`^${set}:\\s+0+$`, 'm'))
    }
    assert.match(stdout, /^NoNewPrivs:\s+1$/m)
    assert.match(stdout, /^Seccomp:\s+2$/m)
    assert.match(stdout, /^Groups:\s*$/m)
  })

  test('sees no environment, descriptor, file or port of the host', async () => {
    const directory = mkdtempSync('/var/tmp/berth-canary-')
    const file = join(directory, canary)
    writeFileSync(file, canary)
    const server = createServer()
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve)
    })
    try {
      const { port } = server.address() as AddressInfo
      const seen = await runInside<Record<string, unknown>>(
        instance,
        `const fs = require('fs')
         const refused = await new Promise((resolve) => {
           const socket = require('net').connect(${port}, '127.0.0.1', () => resolve('connected'))
           socket.on('error', (error) => resolve(error.code))
         })
         const pids = fs.readdirSync('/proc').filter((name) => /^\\d+$/.test(name))
         return {
           refused,
           file: fs.existsSync(${JSON.stringify(file)}),
           own: Object.keys(process.env).sort(),
           environments: pids.map((pid) => { try { return fs.readFileSync('/proc/' + pid + '/environ', 'utf8') } catch { return '' } }).join(),
           descriptors: fs.readdirSync('/proc/self/fd').flatMap((fd) => { try { return fs.readlinkSync('/proc/self/fd/' + fd) } catch { return [] } }),
           devices: fs.readFileSync('/proc/net/dev', 'utf8').match(/\\w+(?=:)/g),
         }`,
      )
      assert.equal(seen['refused'], 'ECONNREFUSED')
      assert.equal(seen['file'], false)
      assert.deepEqual(seen['own'], ['HOME', 'LANG', 'PATH', 'PWD', 'USER'])
      assert.ok(!String(seen['environments']).includes(canary))
      assert.deepEqual(seen['devices'], ['lo'])
      // Its own stderr; what Node made itself has no path.
      const stderr = join(instancesDirOf(dataDir), instance.id, 'stderr')
      const own = new RegExp(`^(/dev/null|/proc/.*|${stderr}|[^/].*)$`)
      assert.deepEqual(
        (seen['descriptors'] as string[]).filter((path) => !own.test(path)),
        [],
      )
    } finally {
      server.close()
      rmSync(directory, { recursive: true })
    }
  })

  test('has exactly the expected mounts', async () => {
    const { stdout } = await shellInside(instance, `cut -d' ' -f5,6 /proc/self/mountinfo`)
    const mounts = new Map(
      stdout
        .trim()
        .split('\n')
        .map((line) => line.split(' ') as [string, string]),
    )
    const writable = [...mounts]
      .filter(([, options]) => options.split(',').includes('rw'))
      .map(([path]) => path)
    const devices = ['full', 'null', 'random', 'tty', 'urandom', 'zero'].map((name) => `/dev/${name}`)
    const homes = ['/home/kernel', '/etc/chromium/policies']
    const expected = ['/dev/pts', '/dev/shm', '/proc', '/run', '/tmp', '/var', ...homes, ...devices]
    assert.deepEqual(writable.toSorted(), expected.toSorted())
    const readable = [...mounts.keys()].filter((path) => !writable.includes(path))
    const etc = [
      'alternatives',
      'fonts',
      'group',
      'hosts',
      'ld.so.cache',
      'nsswitch.conf',
      'resolv.conf',
      'passwd',
      'ssl/certs',
    ]
    const fixed = ['/', '/dev', '/usr', '/run/berth', '/run/berth-agent', '/var/cache/fontconfig']
    const other = '/run/berth-agent/playwright-1.64.cjs'
    assert.ok(readable.includes(other), 'the other version of Playwright')
    const program = ['agent.mjs', 'node', 'koffi.node'].map((name) => `/run/berth-agent/${name}`)
    const known = new Set([...etc.map((name) => `/etc/${name}`), ...fixed, ...program, other])
    assert.deepEqual(
      readable.filter((path) => !known.has(path)),
      [],
    )
    for (const [path, options] of mounts) assert.match(options, /nosuid/, path)
  })

  test('cannot tell from its mounts where Berth is on the host', async () => {
    const { stdout } = await shellInside(instance, 'cat /proc/*/mountinfo')
    assert.match(stdout, /\/run\/berth-agent\/node/)
    assert.deepEqual(unexpectedSources(stdout), [])
  })

  test('sees a choice of packages, and nothing else of the host’s programs', async () => {
    const system = new SystemFiles(installationRoot).path
    assert.notEqual(system, '', 'run npm run setup first')
    const needed = ['/usr/lib/chromium/chromium', '/usr/bin/perl', '/usr/bin/unshare', '/usr/bin/prlimit']
    const foreign = ['gcc', 'sudo', 'su', 'mount', 'dpkg', 'apt-get', 'systemctl', 'ssh', 'docker', 'bwrap']
    const seen = await runInside<string[]>(
      instance,
      `return ${JSON.stringify([...needed, ...foreign.map((name) => `/usr/bin/${name}`)])}.filter((path) => require('fs').existsSync(path))`,
    )
    assert.deepEqual(seen, needed)
    const suspect = '( -perm /6000 -o ! -user root -o ! -type l -perm /022 )'
    const { stdout } = await execute('find', [system, ...suspect.split(' ')])
    assert.equal(stdout, '', 'all of it belongs to root, who alone can change it, and nothing gives rights')
  })

  test('cannot change the system, its link or its agent', async () => {
    for (const path of ['/usr/x', '/etc/x', '/x', '/dev/x', '/run/berth/x', '/run/berth-agent/x']) {
      await assert.rejects(
        runInside(instance, `require('fs').writeFileSync(${JSON.stringify(path)}, '')`),
        /EROFS|EACCES|EPERM/,
        path,
      )
    }
    for (const command of [
      'rm /run/berth/egress.sock',
      'mv /run/berth /run/other',
      'mv /run/berth-agent /run/other',
      'rm /run/berth-agent/agent.mjs',
      'echo > /run/berth-agent/agent.mjs',
      'echo > /etc/passwd',
      'chmod 777 /run/berth',
    ]) {
      assert.notEqual((await shellInside(instance, command)).code, 0, command)
    }
    assert.equal(await runInside(instance, 'return 1'), 1)
  })

  // Chromium's sandbox needs user namespaces, so every user inside can be root of one; that must gain nothing.
  const AS_ROOT_OF_ITS_OWN = 'unshare --user --map-root-user --pid --fork '
  for (const [who, prefix] of [
    ['an ordinary process', ''],
    ['root of a namespace of its own', AS_ROOT_OF_ITS_OWN],
  ] as const) {
    test(`${who} is refused every forbidden system call`, async () => {
      const calls = Object.entries(forbidden).flatMap(([name, numbers]) => {
        const number = numbers[architecture]
        return number === null ? [] : [[name, number]]
      })
      const script = `
import ctypes, json, sys
libc = ctypes.CDLL(None, use_errno=True)
def errno_of(number, *args):
    ctypes.set_errno(0)
    return ctypes.get_errno() if libc.syscall(number, *args) == -1 else 0
print(json.dumps({name: errno_of(number, 0, 0, 0, 0, 0) for name, number in json.loads(sys.argv[1])}))`
      const { stdout, stderr } = await shellInside(
        instance,
        `${prefix}/usr/bin/python3 -c '${script}' '${JSON.stringify(calls)}'`,
      )
      assert.equal(stderr, '')
      const EPERM = 1
      const found = Object.entries(JSON.parse(stdout) as object)
      assert.equal(found.length, calls.length)
      for (const [name, errno] of found) assert.equal(errno, EPERM, name)
    })

    test(`${who} is refused sockets that leave the instance or reach far into the kernel`, async () => {
      const families = {
        vsock: 'socket.AF_VSOCK, socket.SOCK_STREAM',
        netfilter: 'socket.AF_NETLINK, socket.SOCK_RAW, 12',
        packet: 'socket.AF_PACKET, socket.SOCK_RAW',
        alg: 'socket.AF_ALG, socket.SOCK_SEQPACKET',
        bluetooth: '31, socket.SOCK_RAW',
        can: '29, socket.SOCK_RAW',
        route: 'socket.AF_NETLINK, socket.SOCK_RAW, 0',
        raw: 'socket.AF_INET, socket.SOCK_RAW, 1',
        sctp: 'socket.AF_INET, socket.SOCK_STREAM, 132',
        unix: 'socket.AF_UNIX, socket.SOCK_STREAM',
        ipv4: 'socket.AF_INET, socket.SOCK_STREAM',
        ipv6: 'socket.AF_INET6, socket.SOCK_DGRAM',
      }
      const found: Record<string, string> = {}
      for (const [name, args] of Object.entries(families)) {
        const script = `import socket\ntry: socket.socket(${args}); print("open")\nexcept OSError as error: print(error.errno)`
        found[name] = (await shellInside(instance, `${prefix}/usr/bin/python3 -c '${script}'`)).stdout.trim()
      }
      const [EPERM, EAFNOSUPPORT] = ['1', '97']
      const open = { unix: 'open', ipv4: 'open', ipv6: 'open' }
      const refused = ['vsock', 'netfilter', 'packet', 'alg', 'bluetooth', 'can', 'raw', 'sctp']
      assert.deepEqual(found, {
        ...open,
        ...Object.fromEntries(refused.map((name) => [name, EPERM])),
        route: EAFNOSUPPORT,
      })
    })

    test(`${who} can send neither a datagram nor a ping`, async () => {
      const script = `
import json, socket
def outcome(act):
    try: act(); return "sent"
    except OSError as error: return error.errno
def send(family, kind, protocol, address):
    return outcome(lambda: socket.socket(family, kind, protocol).sendto(b"x", address))
print(json.dumps([
    send(socket.AF_INET, socket.SOCK_DGRAM, 0, ("8.8.8.8", 53)),
    send(socket.AF_INET, socket.SOCK_DGRAM, 0, ("169.254.169.254", 80)),
    send(socket.AF_INET6, socket.SOCK_DGRAM, 0, ("2001:4860:4860::8888", 53)),
    send(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP, ("8.8.8.8", 0)),
    send(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP, ("8.8.8.8", 0)),
]))`
      const { stdout } = await shellInside(instance, `${prefix}/usr/bin/python3 -c '${script}'`)
      const outcomes = JSON.parse(stdout) as unknown[]
      assert.ok(!outcomes.includes('sent'), stdout)
      const ENETUNREACH = 101
      assert.equal(outcomes[0], ENETUNREACH)
    })
  }

  test('cannot change the system, its sockets or its agent, and gets the reason', async () => {
    const script = `
import json, os, sys
os.makedirs("/tmp/own", exist_ok=True)
open("/tmp/own/file", "w").close()
acts = {
    "write": lambda path: os.close(os.open(path, os.O_WRONLY)),
    "truncate": lambda path: os.truncate(path, 0),
    "unlink": os.unlink,
    "rename": lambda path: os.rename(path, path + ".old"),
    "chmod": lambda path: os.chmod(path, 0o777),
    "link over": lambda path: os.link("/tmp/own/file", path),
    "symlink beside": lambda path: os.symlink("/tmp/own/file", path + ".new"),
    "make beside": lambda path: os.close(os.open(path + ".new", os.O_WRONLY | os.O_CREAT)),
    "remove the directory": lambda path: os.rmdir(os.path.dirname(path)),
    "rename the directory": lambda path: os.rename(os.path.dirname(path), "/tmp/own/moved"),
}
def outcome(act, path):
    try: act(path); return "done"
    except OSError as error: return error.errno
print(json.dumps({path + ", " + name: outcome(act, path) for path in sys.argv[1:] for name, act in acts.items()}))`
    const paths = [
      '/run/berth/egress.sock',
      '/run/berth-agent/koffi.node',
      '/run/berth-agent/agent.mjs',
      '/run/berth-agent/node',
      '/etc/passwd',
      '/etc/ssl/certs/ca-certificates.crt',
      '/usr/bin/env',
    ]
    const { stdout, stderr } = await shellInside(
      instance,
      `/usr/bin/python3 -c '${script}' ${paths.join(' ')}`,
    )
    assert.equal(stderr, '')
    const found = JSON.parse(stdout) as Record<string, unknown>
    for (const [act, outcome] of Object.entries(found)) assert.notEqual(outcome, 'done', act)
    const [EPERM, EACCES, EBUSY, EROFS] = [1, 13, 16, 30]
    for (const path of paths) {
      for (const act of ['unlink', 'rename', 'chmod', 'symlink beside', 'make beside']) {
        const errno = found[`${path}, ${act}`] as number
        assert.ok([EPERM, EACCES, EBUSY, EROFS].includes(errno), `${path}, ${act}: ${errno}`)
      }
    }
    assert.equal(await runInside(instance, 'return 1'), 1)
  })

  test('finds nothing of the host in /proc', async () => {
    const seen = await runInside<string>(
      instance,
      `const fs = require('fs')
       const read = (path) => { try { return fs.readFileSync(path, 'latin1') } catch (error) { return error.code } }
       const links = (path) => { try { return fs.readdirSync(path).map((name) => {
         try { return fs.readlinkSync(path + '/' + name) } catch (error) { return error.code } }).join() } catch (error) { return error.code } }
       const pids = fs.readdirSync('/proc').filter((name) => /^\\d+$/.test(name))
       return [
         ...pids.flatMap((pid) => [
           ...['environ', 'cmdline', 'mountinfo', 'mounts', 'maps', 'cgroup', 'stack'].map((file) => read('/proc/' + pid + '/' + file)),
           ...['fd', 'cwd', 'root', 'ns', 'map_files'].map((name) => links('/proc/' + pid + '/' + name)),
         ]),
         ...['cmdline', 'keys', 'key-users', 'net/unix', 'net/tcp', 'net/tcp6', 'mounts', 'kallsyms', 'sched_debug', 'timer_list', 'kmsg']
           .map((file) => read('/proc/' + file).slice(0, 1e6)),
       ].join('\\n')`,
    )
    assert.ok(seen.includes('/run/berth-agent/agent.mjs'), 'the agent is seen')
    assert.ok(!seen.includes(canary), 'the environment of the server is seen')
    assert.doesNotMatch(seen, /PGSQL|master-keys|api-key|BERTH_/)
    assert.deepEqual(linesAboutTheHost(seen, [dataDir, dirname(agentFile)]), [])
    // The other ends of its own connections; sockets of other services would be listed with their paths.
    for (const [, path] of seen.matchAll(/ (\/\S+\.sock\S*)$/gm)) {
      assert.match(path!, new RegExp(`/${instance.id}/pub/egress\\.sock$`))
    }
    // Kernel addresses would help an attack.
    assert.doesNotMatch(seen, /^(?!0{16})[0-9a-f]{16} [tT] \w+$/m)
  })

  for (const [who, prefix] of [
    ['the tenant', ''],
    ['root of a namespace of its own', 'unshare --user --map-root-user '],
  ] as const) {
    test(`${who} can neither signal, trace, read nor slow down the agent`, async () => {
      const script = `
import ctypes, json, os, resource
libc = ctypes.CDLL(None, use_errno=True)
def outcome(act):
    try: act(); return "done"
    except OSError as error: return error.errno
def call(number, *args):
    ctypes.set_errno(0)
    if libc.syscall(number, *args) == -1: raise OSError(ctypes.get_errno(), "")
def read(path):
    with open(path, "rb") as file: file.read(1)
def vm_read(pid):
    buffer = ctypes.create_string_buffer(8)
    local = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 8)
    remote = (ctypes.c_void_p * 2)(0x1000, 8)
    call(${architecture === 'x64' ? 310 : 270}, pid, local, 1, remote, 1, 0)
found = {}
ours = os.stat("/proc/self").st_uid
for pid in [int(name) for name in os.listdir("/proc") if name.isdigit()]:
    if os.stat(f"/proc/{pid}").st_uid == ours: continue
    found[pid] = {
        "look": outcome(lambda: os.kill(pid, 0)),
        "end": outcome(lambda: os.kill(pid, 9)),
        "stop": outcome(lambda: os.kill(pid, 19)),
        "signal by pidfd": outcome(lambda: call(424, os.pidfd_open(pid), 9, None, 0)),
        "trace": outcome(lambda: call(${architecture === 'x64' ? 101 : 117}, 16, pid, 0, 0)),
        "read memory": outcome(lambda: vm_read(pid)),
        "open memory": outcome(lambda: os.close(os.open(f"/proc/{pid}/mem", os.O_RDWR))),
        "environment": outcome(lambda: read(f"/proc/{pid}/environ")),
        "maps": outcome(lambda: read(f"/proc/{pid}/maps")),
        "descriptors": outcome(lambda: os.listdir(f"/proc/{pid}/fd")),
        "root": outcome(lambda: os.listdir(f"/proc/{pid}/root")),
        "limits": outcome(lambda: resource.prlimit(pid, resource.RLIMIT_NOFILE, (1, 1))),
        "priority": outcome(lambda: os.setpriority(os.PRIO_PROCESS, pid, 19)),
    }
print(json.dumps(found))`
      const { stdout, stderr } = await shellInside(instance, `${prefix}/usr/bin/python3 -c '${script}'`)
      assert.equal(stderr, '')
      const found = Object.values(JSON.parse(stdout) as Record<string, Record<string, number | 'done'>>)
      // The first process, and the agent.
      assert.equal(found.length, 2, stdout)
      const [EPERM, EACCES] = [1, 13]
      for (const outcomes of found) {
        for (const [act, outcome] of Object.entries(outcomes)) {
          assert.ok(outcome === EPERM || outcome === EACCES, `${act}: ${outcome}`)
        }
      }
      assert.equal(await runInside(instance, 'return 1'), 1)
    })
  }

  test('nothing inside leads to the link or to the uid of the agent', async () => {
    const { stdout } = await shellInside(
      instance,
      'test -S /run/berth/egress.sock && echo egress; test -e /run/berth/link.sock && echo link; grep -c link /proc/net/unix; setpriv --reuid=0 true && echo root; true',
    )
    assert.equal(stdout, 'egress\n0\n')
    const map =
      "open('/proc/self/setgroups','w').write('deny'); open('/proc/self/uid_map','w').write('0 0 1')"
    const { code } = await shellInside(instance, `unshare --user /usr/bin/python3 -c "${map}"`)
    assert.notEqual(code, 0)
  })

  test('cannot push characters into a terminal', async () => {
    const script = `
import fcntl, os, pty
master, slave = pty.openpty()
for request in (0x5412, 0x541C, 0x541C | 1 << 32):
    try: fcntl.ioctl(slave, request & 0xffffffff, b"x"); print("done")
    except OSError as error: print(error.errno)`
    assert.equal((await shellInside(instance, `/usr/bin/python3 -c '${script}'`)).stdout, '1\n1\n1\n')
  })

  test('can make user namespaces for the sandbox of Chromium', async () => {
    const { stdout } = await shellInside(
      instance,
      'unshare --user --pid --fork sh -c "id -u; readlink /proc/self/ns/user"',
    )
    assert.match(stdout, /^65534\nuser:/)
  })

  test('can make no other namespaces, and no network devices in one like that of Chromium', async () => {
    for (const kind of ['net', 'ipc', 'uts', 'mount', 'cgroup', 'time']) {
      const { stderr } = await shellInside(instance, `unshare --user --map-root-user --${kind} true`)
      assert.match(stderr, /unshare failed|Operation not permitted/, kind)
    }
    const script = `
import ctypes, fcntl, json, os, signal, socket
libc = ctypes.CDLL(None, use_errno=True)
def outcome(act):
    try: act(); return "done"
    except OSError as error: return error.errno
user, pid, net = 0x10000000, 0x20000000, 0x40000000
child = libc.syscall(${architecture === 'x64' ? 56 : 220}, user | pid | net | signal.SIGCHLD, 0, 0, 0, 0)
if child == 0:
    plain = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    print(json.dumps([
        outcome(lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)),
        outcome(lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)),
        outcome(lambda: fcntl.ioctl(plain, 0x89A0, b"bridge".ljust(16, bytes(1)))),
    ]), flush=True)
    os._exit(0)
assert child > 0
os.waitpid(child, 0)`
    const { stdout, stderr } = await shellInside(instance, `/usr/bin/python3 -c '${script}'`)
    assert.equal(stderr, '')
    assert.deepEqual(JSON.parse(stdout), [97, 1, 1])
  })

  test('cannot mount even where it is root of its own user namespace', async () => {
    const { code, stderr } = await shellInside(
      instance,
      'unshare --user --map-root-user --mount --propagation unchanged mount -t tmpfs none /tmp',
    )
    assert.notEqual(code, 0)
    assert.match(stderr, /permission denied|not permitted/i)
  })

  test('leaves no core file and is the first to be killed when the host is out of memory', async () => {
    const { stdout } = await shellInside(instance, 'ulimit -c; cat /proc/self/oom_score_adj')
    assert.equal(stdout, '0\n100\n')
  })

  test('can write endlessly to its stderr without harm to itself or the host', async () => {
    await runInside(instance, `for (let i = 0; i < 1000; i++) process.stderr.write('x'.repeat(1000))`)
    assert.equal(await runInside(instance, 'return 1'), 1)
  })

  test('reports the traffic of its egress', () => {
    assert.deepEqual(instance.traffic, { sent: 3, received: 4 })
  })
})

describe('where files are', { skip }, () => {
  test('an instance starts whether or not its uid can reach the data directory', async (t) => {
    for (const mode of [0o755, 0o700]) {
      const parent = makeDataDir(t)
      const dataDir = join(parent, 'data')
      mkdirSync(dataDir, { mode })
      if (mode === 0o755) await import('node:fs').then(({ chmodSync }) => chmodSync(parent, mode))
      const driver = await openDriver(t, { dataDir })
      assert.deepEqual(driver.shortcomings, [])
      const instance = await startInstance(t, driver)
      assert.equal(await runInside(instance, 'return process.getuid()'), 1000)
      await instance.destroy()
    }
  })

  test('a data directory with a very long name does not break the sockets', async (t) => {
    const dataDir = join(makeDataDir(t), 'n'.repeat(120))
    mkdirSync(dataDir)
    const driver = await openDriver(t, { dataDir })
    const instance = await startInstance(t, driver, instanceOptions())
    assert.equal(await runInside(instance, 'return process.getuid()'), 1000)
    await instance.destroy()
    assert.ok(!existsSync(join(instancesDirOf(dataDir), instance.id)))
  })
})

test(
  'if the agent cannot have its own uid, instances start only if weak isolation is allowed',
  { skip },
  async (t) => {
    const nativeCalls = '/no/such/file'
    const strict = await openDriver(t, { nativeCalls })
    assert.match(
      strict.shortcomings.join(),
      /^The agent has the uid of what tenants run[^]*BERTH_ALLOW_WEAK_ISOLATION$/,
    )
    await assert.rejects(strict.start(instanceOptions()), /The agent has the uid/)
    const weak = await openDriver(t, { nativeCalls, allowWeakIsolation: true })
    assert.deepEqual(weak.shortcomings, [])
    const instance = await startInstance(t, weak)
    assert.equal(await runInside(instance, 'return process.getuid()'), 1000)
    assert.equal(new Set(processesOf(instance.id).map(({ uid }) => uid)).size, 1)
    await instance.destroy()
  },
)
