// Starts the instance of a Pod, as the local driver starts one without root, and reports to the link what becomes of it.
// It runs in the tenant's container and has the tenant's uid, so nobody believes more of it than of the agent.
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { connect, type Socket } from 'node:net'
import { agentExitCodes, instancePaths, type AgentStart } from '@berth/contracts/link'
import { pause } from '@berth/kit/pause'
import { installationRoot } from '../../platform/files/installation.ts'
import { readCount } from '../local/cgroup-files.ts'
import { missingFiles } from '../local/examination.ts'
import { findGpus, type Gpu } from '../local/gpu/find-gpus.ts'
import { listGpus } from '../local/gpu/listing.ts'
import { spawnInstance, type Host } from '../local/launch.ts'
import { LinkSocket } from '../local/link-socket.ts'
import { findNativeCalls, findPrograms } from '../local/programs.ts'
import { SharedFiles } from '../local/shared-files.ts'
import { makeFifos, StderrFifo } from '../local/stderr-fifo.ts'
import { SystemFiles } from '../local/system-files.ts'
import { encode, messageReader, type FromPod, type PodEnd, type SharedPaths } from './protocol.ts'

const LINK_WITHIN_MS = 60_000
const AGAIN_MS = 20
const LOOK_MS = 250

/** What is not secret, as JSON in the environment of the Pod. */
export interface PodStart {
  readonly agent: AgentStart
  readonly homeBytes: number
  /** The container has a GPU for it. */
  readonly gpu?: boolean
}

export interface LauncherOptions {
  readonly id: string
  readonly start: PodStart
  readonly paths: SharedPaths
  readonly files: Pick<Host, 'agentFile' | 'playwrightRunner' | 'otherPlaywrights' | 'esbuild'>
  /** Where the memory events of this container are. */
  readonly cgroups?: string
}

/** Resolves when nothing of the instance runs any more, with the exit code of this process. */
export async function launch(options: LauncherOptions): Promise<number> {
  const { id, start, paths, files, cgroups = '/sys/fs/cgroup' } = options
  const { programs, missing } = findPrograms()
  missing.push(...missingFiles({ agentFile: files.agentFile }))
  if (missing.length > 0) throw new Error(`Cannot start the instance: ${missing.join('; ')}`)
  const life = await reachLink(paths.life)
  await using acquired = new AsyncDisposableStack()
  acquired.defer(() => void life.destroy())
  mkdirSync(paths.instance, { recursive: true })
  const host: Host = {
    programs,
    instancesDir: paths.instance,
    shared: SharedFiles.write(paths.instance),
    node: process.execPath,
    ...files,
    nativeCalls: findNativeCalls(),
    system: new SystemFiles(installationRoot),
    placed: undefined,
    network: undefined,
    isOutOfReach: false,
    isInContainer: true,
  }
  const gpu = start.gpu ? gpuOfContainer(host.system) : undefined
  const stderrPath = join(paths.instance, 'stderr')
  rmSync(stderrPath, { force: true })
  await makeFifos({ mkfifo: programs.mkfifo, paths: [stderrPath] })
  const stderr = StderrFifo.open(stderrPath)
  acquired.defer(() => stderr.close())
  const link = await LinkSocket.listen({ path: paths.link, unfinished: `${paths.link}.new` })
  chmodSync(paths.link, 0o666)
  const child = link.handOver((socket) =>
    stderr.lend((errors) =>
      spawnInstance(host, {
        id,
        uid: undefined,
        entrances: [],
        stderr: errors,
        report: '',
        link: socket,
        pub: paths.pub,
        homeBytes: start.homeBytes,
        ...(gpu && { gpu }),
        command: [instancePaths.node, instancePaths.agent, JSON.stringify(start.agent)],
      }),
    ),
  )
  child.ref()
  let end: PodEnd = 'ended-by-itself'
  let enduresOom = false
  const watch = setInterval(() => {
    stderr.drain()
    if (enduresOom || oomKills(cgroups) === 0) return
    // The kernel may have killed any process, so the rest may be broken.
    end = 'out-of-memory'
    child.kill('SIGKILL')
  }, LOOK_MS)
  acquired.defer(() => clearInterval(watch))
  const stop = () => void child.kill('SIGKILL')
  life.once('close', stop)
  life.on(
    'data',
    messageReader((message) => {
      if (message['endureOom'] === true) enduresOom = true
      if (message['end'] === true) stop()
    }, stop),
  )
  say(life, { up: true })
  const [code] = await untilExit(child)
  if (code === agentExitCodes.leaseLapsed) end = 'lease-lapsed'
  if (!enduresOom && oomKills(cgroups) > 0) end = 'out-of-memory'
  const detail = stderr.drain()
  if (life.writable)
    await new Promise<void>((resolve) => life.write(encode({ end, detail }), () => resolve()))
  if (detail) process.stderr.write(`${detail}\n`)
  return code ?? 1
}

/** Not tried first: Chromium says itself when it does not render on it. */
function gpuOfContainer({ path }: SystemFiles): Gpu {
  const { gpus, problems } = findGpus(listGpus(path), 'auto')
  const [gpu] = gpus
  if (!gpu) throw new Error(`Cannot start the instance with a GPU: ${problems.join('; ')}`)
  return gpu
}

async function untilExit(child: ReturnType<typeof spawnInstance>): Promise<readonly [number | null]> {
  const failed = new Promise<readonly [number]>((resolve) => child.once('error', () => resolve([127])))
  const exited = once(child, 'exit') as Promise<[number | null]>
  return Promise.race([exited, failed])
}

/** The link's container may start later than this one. */
async function reachLink(path: string): Promise<Socket> {
  const deadline = performance.now() + LINK_WITHIN_MS
  for (;;) {
    if (existsSync(path)) {
      const socket = connect(path)
      const opened = await new Promise<boolean>((resolve) => {
        socket.once('connect', () => resolve(true))
        socket.once('error', () => resolve(false))
      })
      socket.on('error', () => {})
      if (opened) return socket
    }
    if (performance.now() > deadline)
      throw new Error('Cannot start the instance: the link of the Pod is not there')
    await pause(AGAIN_MS)
  }
}

function say(socket: Socket, message: FromPod): void {
  socket.write(encode(message))
}

/** Of this container, since it started. Zero where its control group cannot be read. */
function oomKills(cgroups: string): number {
  try {
    if (existsSync(join(cgroups, 'memory.events'))) return readCount(cgroups, 'memory.events', 'oom_kill')
    return readCount(join(cgroups, 'memory'), 'memory.oom_control', 'oom_kill')
  } catch {
    return 0
  }
}
