// Runs the image as a container runtime does, with crun: an own network with nothing but loopback, and only the privileges
// that the test names. The rest is as Docker has it.
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newId } from '@berth/kit/ids'
import { cleanUpAfter, type Owner } from '../fixtures/cleanup.ts'
import { tempDir } from '../fixtures/server.ts'

const maskedPaths =
  '/proc/asound /proc/acpi /proc/kcore /proc/keys /proc/latency_stats /proc/timer_list /proc/timer_stats /proc/sched_debug /proc/scsi /sys/firmware'.split(
    ' ',
  )
const readonlyPaths = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger']

export interface ContainerOptions {
  /** The file system of the image. */
  readonly rootfs: string
  /** Kept by the test between containers. */
  readonly data: string
  readonly env: Readonly<Record<string, string>>
  readonly uid: number
  /** All that it has. */
  readonly capabilities: readonly string[]
  /** Whether /proc is as the kernel shows it. */
  readonly hasWholeProc: boolean
  /** A profile in Docker's format; otherwise every call is allowed. */
  readonly seccomp?: string
}

export class Container {
  readonly #id: string
  readonly #state: string
  readonly #child: ChildProcess
  readonly #exited: Promise<number | null>
  #output = ''

  private constructor(options: { id: string; state: string; child: ChildProcess }) {
    this.#id = options.id
    this.#state = options.state
    this.#child = options.child
    const collect = (chunk: Buffer) => (this.#output += chunk.toString())
    this.#child.stdout!.on('data', collect)
    this.#child.stderr!.on('data', collect)
    this.#exited = new Promise((resolve) => this.#child.once('close', (code) => resolve(code)))
  }

  static start(owner: Owner, options: ContainerOptions): Container {
    const bundle = tempDir(owner)
    const id = newId('berth-test-')
    writeFileSync(join(bundle, 'config.json'), JSON.stringify(specification(id, options)))
    const state = join(bundle, 'state')
    mkdirSync(state)
    const child = spawn(
      'crun',
      ['--root', state, '--cgroup-manager=cgroupfs', 'run', '--bundle', bundle, id],
      {
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
    const container = new Container({ id, state, child })
    cleanUpAfter(owner, async () => {
      spawnSync('crun', ['--root', state, 'kill', id, 'KILL'])
      await container.#exited
      spawnSync('crun', ['--root', state, 'delete', '--force', id])
      removeGroups(id)
      if ('error' in owner && owner.error) process.stdout.write(container.output)
    })
    return container
  }

  get output(): string {
    return this.#output
  }

  /** What the program prints; throws when it fails. */
  exec(...command: string[]): string {
    return execFileSync('crun', ['--root', this.#state, 'exec', this.#id, ...command], { encoding: 'utf8' })
  }

  /** As the health check of the image: throws while the server does not answer. */
  isHealthy(): boolean {
    return spawnSync('crun', ['--root', this.#state, 'exec', this.#id, 'berth', 'health']).status === 0
  }

  /** Runs a program of the tests in the network of the container. */
  runBeside(...args: string[]): string {
    return execFileSync('nsenter', [`--net=/proc/${this.#pid}/ns/net`, process.execPath, ...args], {
      encoding: 'utf8',
    })
  }

  /** Resolves with the exit code. */
  async stop(signal: 'SIGTERM' | 'SIGINT'): Promise<number | null> {
    execFileSync('crun', ['--root', this.#state, 'kill', this.#id, signal])
    return this.#exited
  }

  get #pid(): number {
    const state = execFileSync('crun', ['--root', this.#state, 'state', this.#id], { encoding: 'utf8' })
    return (JSON.parse(state) as { pid: number }).pid
  }
}

const tmpfs = (destination: string) => ({
  destination,
  type: 'tmpfs',
  source: 'tmpfs',
  options: ['nosuid', 'nodev', 'noexec', 'mode=1777'],
})

/** A server that leaves its sessions alive leaves their control groups too, and a machine has many hierarchies. */
function removeGroups(id: string): void {
  const mounted = '/sys/fs/cgroup'
  for (const base of [mounted, ...readdirSync(mounted).map((name) => join(mounted, name))]) {
    if (existsSync(join(base, id))) removeTree(join(base, id))
  }
}

function removeTree(directory: string): void {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (entry.isDirectory()) removeTree(join(directory, entry.name))
  }
  rmdirSync(directory)
}

function specification(id: string, options: ContainerOptions): object {
  const { rootfs, data, env, uid, capabilities, hasWholeProc, seccomp } = options
  const names = capabilities.map((name) => `CAP_${name}`)
  return {
    ociVersion: '1.0.2',
    hostname: 'berth',
    root: { path: rootfs, readonly: true },
    process: {
      user: { uid, gid: uid },
      cwd: '/opt/berth',
      args: ['/usr/bin/tini', '--', 'berth'],
      env: Object.entries({
        PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
        BERTH_DATA_DIR: '/data',
        BERTH_HOST: '0.0.0.0',
        ...env,
      }).map(([name, value]) => `${name}=${value}`),
      noNewPrivileges: names.length === 0,
      capabilities: { bounding: names, effective: uid === 0 ? names : [], permitted: uid === 0 ? names : [] },
    },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc', options: ['nosuid', 'noexec', 'nodev'] },
      { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'strictatime', 'mode=755'] },
      {
        destination: '/dev/pts',
        type: 'devpts',
        source: 'devpts',
        options: ['nosuid', 'noexec', 'newinstance', 'ptmxmode=0666', 'mode=0620'],
      },
      tmpfs('/dev/shm'),
      { destination: '/sys', type: 'sysfs', source: 'sysfs', options: ['nosuid', 'noexec', 'nodev', 'ro'] },
      {
        destination: '/sys/fs/cgroup',
        type: 'cgroup',
        source: 'cgroup',
        options: ['nosuid', 'noexec', 'nodev', 'relatime', 'ro'],
      },
      tmpfs('/run'),
      tmpfs('/tmp'),
      { destination: '/data', type: 'bind', source: data, options: ['rbind', 'rw'] },
    ],
    linux: {
      cgroupsPath: `/${id}`,
      namespaces: ['pid', 'ipc', 'uts', 'mount', 'network', 'cgroup'].map((type) => ({ type })),
      ...(hasWholeProc ? {} : { maskedPaths, readonlyPaths }),
      ...(seccomp !== undefined && { seccomp: filter(seccomp) }),
    },
  }
}

function filter(path: string): object {
  const { archMap, ...rest } = JSON.parse(readFileSync(path, 'utf8')) as {
    archMap: readonly { architecture: string }[]
  }
  return { ...rest, architectures: archMap.map(({ architecture }) => architecture) }
}
