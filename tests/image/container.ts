// Runs the image with runc, as Docker does: an own network with nothing but loopback, and only the privileges that the
// test names. The rest is as Docker has it. crun would do too, but it refuses machines with both versions of control
// groups.
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newId } from '@berth/kit/ids'
import { cleanUpAfter, type Owner } from '../fixtures/cleanup.ts'
import { eventually } from '../fixtures/host.ts'
import { tempDir } from '../fixtures/server.ts'

const maskedPaths =
  '/proc/asound /proc/acpi /proc/kcore /proc/keys /proc/latency_stats /proc/timer_list /proc/timer_stats /proc/sched_debug /proc/scsi /sys/firmware'.split(
    ' ',
  )
const readonlyPaths = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger']
/** Long enough for a busy machine. Only a failing test waits for the end. */
const START_MS = 120_000

/** What an image says about its containers. */
export interface ImageConfig {
  readonly User: string
  readonly Entrypoint: readonly string[]
  readonly Env: readonly string[]
  readonly WorkingDir: string
  readonly Healthcheck: { readonly Test: readonly string[] }
  readonly Labels: Readonly<Record<string, string>>
}

export interface ContainerOptions {
  readonly image: ImageConfig
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
  readonly #healthCheck: readonly string[]
  #output = ''
  /** How it ended, once it has. */
  #end: string | undefined

  private constructor(options: { id: string; state: string; child: ChildProcess; image: ImageConfig }) {
    this.#id = options.id
    this.#state = options.state
    this.#child = options.child
    this.#healthCheck = options.image.Healthcheck.Test.slice(1)
    const collect = (chunk: Buffer) => (this.#output += chunk.toString())
    this.#child.stdout!.on('data', collect)
    this.#child.stderr!.on('data', collect)
    this.#exited = new Promise((resolve) => {
      this.#child.once('close', (code) => {
        this.#end = `with code ${code}`
        resolve(code)
      })
    })
  }

  static start(owner: Owner, options: ContainerOptions): Container {
    const bundle = tempDir(owner)
    const id = newId('berth-test-')
    writeFileSync(join(bundle, 'config.json'), JSON.stringify(specification(id, options)))
    const state = join(bundle, 'state')
    mkdirSync(state)
    const child = spawn('runc', ['--root', state, 'run', '--bundle', bundle, id], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const container = new Container({ id, state, child, image: options.image })
    cleanUpAfter(owner, async () => {
      container.#runc('kill', id, 'KILL')
      await container.#exited
      container.#runc('delete', '--force', id)
      removeGroups(id)
      if ('error' in owner && owner.error) {
        process.stdout.write(`The container of the failed test printed:\n${container.output}\n`)
      }
    })
    return container
  }

  get output(): string {
    return this.#output
  }

  /** What the program prints; throws when it fails. */
  exec(...command: string[]): string {
    const { status, stdout, stderr } = this.#runc('exec', this.#id, ...command)
    if (status === 0) return stdout
    throw new Error(`"${command.join(' ')}" failed with ${status}: ${stderr}${stdout}`)
  }

  /** By the health check of the image. Throws when the container ends instead, or takes too long. */
  async becomesHealthy(): Promise<void> {
    let answer = ''
    const isHealthy = () => {
      if (this.#end !== undefined) throw new Error(`The container ended ${this.#end}`)
      const { status, stdout, stderr } = this.#runc('exec', this.#id, ...this.#healthCheck)
      answer = stdout + stderr
      return status === 0
    }
    await eventually(() => `the server is healthy; its check says: ${answer}`, isHealthy, START_MS)
  }

  /** What it printed arrives some time after it was printed. */
  async says(pattern: RegExp): Promise<void> {
    await eventually(`the container says ${pattern}`, () => pattern.test(this.#output))
  }

  /** Runs a program of the tests in the network of the container. */
  runBeside(...args: string[]): string {
    return execFileSync('nsenter', [`--net=/proc/${this.#pid}/ns/net`, process.execPath, ...args], {
      encoding: 'utf8',
    })
  }

  /** Resolves with the exit code, when all output is there. */
  async stop(signal: 'SIGTERM' | 'SIGINT'): Promise<number | null> {
    const { status, stderr } = this.#runc('kill', this.#id, signal)
    if (status !== 0) throw new Error(`Cannot send ${signal}: ${stderr}`)
    return this.#exited
  }

  get #pid(): number {
    const { stdout } = this.#runc('state', this.#id)
    return (JSON.parse(stdout) as { pid: number }).pid
  }

  #runc(...args: string[]) {
    return spawnSync('runc', ['--root', this.#state, ...args], { encoding: 'utf8' })
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
  const { image, rootfs, data, env, uid, capabilities, hasWholeProc, seccomp } = options
  const names = capabilities.map((name) => `CAP_${name}`)
  return {
    ociVersion: '1.0.2',
    hostname: 'berth',
    root: { path: rootfs, readonly: true },
    process: {
      user: { uid, gid: uid },
      cwd: image.WorkingDir,
      args: image.Entrypoint,
      env: [...image.Env, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)],
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
