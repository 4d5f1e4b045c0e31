// The command that starts an instance. In order: nice, because the server has priority; a shell that joins
// the instance's control groups; if the instance's uid cannot reach our files, a mount namespace in which
// it can; setpriv, which switches to the agent's uid; bubblewrap, which creates the namespaces; the agent.
//
// The tenant can read bubblewrap's start in /proc/1. So it gets no environment, no descriptor of the
// server's, and no secret in its arguments.
import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process'
import { closeSync, lstatSync, openSync, readlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Writable } from 'node:stream'
import { instancePaths, LINK_DESCRIPTOR, NETWORK_DESCRIPTOR } from '@berth/contracts/link'
import { stepsToOrdinary } from '../../platform/priority.ts'
import { AGENT_UID_INSIDE, ChildReport } from './id-map.ts'
import type { Gpu } from './gpu/find-gpus.ts'
import { gpuArguments, gpuStage } from './gpu/gpu-arguments.ts'
import type { NetworkMaker } from './network-maker.ts'
import type { PlacedFiles } from './placed-files.ts'
import type { Programs } from './programs.ts'
import { INSIDE_UID, INSIDE_USER } from './ids-inside.ts'
import { INSIDE_HOSTNAME, type SharedFiles } from './shared-files.ts'
import type { SystemFiles } from './system-files.ts'
import { hostUidsOf, type HostUids } from './uids.ts'

export interface Host {
  readonly programs: Programs
  readonly instancesDir: string
  readonly shared: SharedFiles
  readonly node: string
  readonly agentFile: string
  /** For instances that run code; see playwrightRunner in LocalDriverOptions. */
  readonly playwrightRunner: string | undefined
  /** The same with other versions. Left out where files are out of reach. */
  readonly otherPlaywrights?: readonly string[]
  /** For instances that build apps; without it they cannot build TypeScript. */
  readonly esbuild: string | undefined
  /** With it, the agent has a uid of its own; see packages/agent/src/own-uid.ts. */
  readonly nativeCalls: string | undefined
  readonly system: SystemFiles
  /** Keeps the files above where they are; see placed-files.ts. */
  readonly placed: PlacedFiles | undefined
  /** Undefined where instances can have no network of their own; they have only the proxy then. */
  readonly network: NetworkMaker | undefined
  /** Whether an instance's uid cannot reach these files, for example below /root. */
  readonly isOutOfReach: boolean
  /**
   * Whether the instance is alone in a container. A container may not mount /proc anew, because the runtime hides parts of
   * it. So the instance shares the container's processes, all of which are its own.
   */
  readonly isInContainer?: boolean
}

export interface Launch {
  readonly id: string
  readonly uid: number | undefined
  readonly entrances: readonly string[]
  readonly homeBytes: number
  readonly command: readonly string[]
  /** A descriptor for errors that needs no reader and is limited in size. */
  readonly stderr: number
  /** Path of the fifo for id-map.ts. */
  readonly report: string
  /** The agent's listening socket; see link-socket.ts. */
  readonly link?: number
  /** Whether it gets a network, for which it has a socket to us; see instance-network.ts. */
  readonly hasNetwork?: boolean
  /** The directory with the egress socket, where it is not the instance's own. */
  readonly pub?: string
  readonly gpu?: Gpu
}

const MiB = 1024 * 1024
const sizes = { shm: 512 * MiB, tmp: 256 * MiB, var: 16 * MiB, run: 1 * MiB, agent: 4096, policies: 32 * MiB }

/** Beyond the usual three. Bubblewrap closes all of them but link and network before it starts the agent. */
const descriptors = {
  seccomp: 3,
  link: LINK_DESCRIPTOR,
  report: 5,
  go: 6,
  network: NETWORK_DESCRIPTOR,
} as const

/**
 * Of the agent, over the instance's own user namespace: to start programs as the user, to slow them down and to end
 * them; NET_ADMIN to decide about connections, if it has a network; CHOWN and SETPCAP until it has given the user its home
 * and dropped the rest.
 */
const AGENT_CAPABILITIES = ['SETUID', 'SETGID', 'KILL', 'SYS_NICE', 'CHOWN', 'SETPCAP']

// dash exports PWD on its own. When the host runs out of memory, instances are killed before servers.
const ENTER_SCRIPT = `ulimit -c 0
echo 100 > /proc/self/oom_score_adj
while [ "$1" != -- ]; do echo 0 > "$1" || exit 125; shift; done
shift
unset PWD
exec "$@"`

/** The kubelet decides who is killed first, and nobody may lower that. */
const CONTAINER_SCRIPT = `shift
unset PWD
exec "$@"`

const STAGE = '/mnt'
const STAGE_SCRIPT = `set -e
m=$1
"$m" -t tmpfs -o mode=0755,size=64k tmpfs ${STAGE}
mkdir ${STAGE}/instances
: > ${STAGE}/node
: > ${STAGE}/agent.mjs
: > ${STAGE}/playwright.cjs
: > ${STAGE}/esbuild
: > ${STAGE}/koffi.node
"$m" --bind "$2" ${STAGE}/instances
"$m" --bind "$3" ${STAGE}/node
"$m" --bind "$4" ${STAGE}/agent.mjs
[ -z "$5" ] || "$m" --bind "$5" ${STAGE}/playwright.cjs
[ -z "$6" ] || "$m" --bind "$6" ${STAGE}/esbuild
[ -z "$7" ] || "$m" --bind "$7" ${STAGE}/koffi.node
shift 7
unset PWD
exec "$@"`

export function spawnInstance(host: Host, launch: Launch): ChildProcess {
  host.placed?.keep()
  const [command, ...args] = launchCommand(host, launch) as [string, ...string[]]
  const uids = hostUids(host, launch.uid)
  const seccomp = openSync(host.shared.seccomp, 'r')
  const report = uids && new ChildReport(launch.report)
  const mapping: StdioOptions = report
    ? [report.theirs, 'pipe', ...(launch.hasNetwork ? ['pipe' as const] : [])]
    : []
  try {
    const child = spawn(command, args, {
      env: {},
      cwd: '/',
      detached: true,
      stdio: ['ignore', 'ignore', launch.stderr, seccomp, launch.link ?? 'ignore', ...mapping],
    })
    // SAFETY: it was asked for. It is missing when the child could not be started.
    const go = (child.stdio as readonly (Writable | null | undefined)[])[descriptors.go]
    if (uids && go) report!.mapIds(uids, go)
    child.once('exit', () => report?.close())
    child.once('error', () => report?.close())
    // An instance must not keep the server process alive.
    child.unref()
    return child
  } finally {
    closeSync(seccomp)
    report?.handedOver()
  }
}

/** Undefined when all inside share one uid. */
export function hostUids(host: Host, uid: number | undefined): HostUids | undefined {
  if (uid === undefined || host.nativeCalls === undefined) return undefined
  return hostUidsOf(uid)
}

export function launchCommand(host: Host, launch: Launch): string[] {
  const { programs } = host
  const step = stepsToOrdinary()
  const enter = [
    ...(step > 0 ? [programs.nice, '-n', String(step)] : []),
    programs.sh,
    '-c',
    host.isInContainer ? CONTAINER_SCRIPT : ENTER_SCRIPT,
    'sh',
    ...launch.entrances,
    '--',
  ]
  const stage = [
    programs.unshare,
    '--mount',
    '--propagation',
    'private',
    programs.sh,
    '-c',
    STAGE_SCRIPT,
    'sh',
  ]
  const seen = host.isOutOfReach
    ? { instances: join(STAGE, 'instances'), node: join(STAGE, 'node'), agent: join(STAGE, 'agent.mjs') }
    : { instances: host.instancesDir, node: host.node, agent: host.agentFile }
  const runner =
    host.playwrightRunner && (host.isOutOfReach ? join(STAGE, 'playwright.cjs') : host.playwrightRunner)
  const esbuild = host.esbuild && (host.isOutOfReach ? join(STAGE, 'esbuild') : host.esbuild)
  const calls = host.nativeCalls && (host.isOutOfReach ? join(STAGE, 'koffi.node') : host.nativeCalls)
  const {
    instancesDir,
    node,
    agentFile,
    playwrightRunner = '',
    esbuild: bundler = '',
    nativeCalls = '',
  } = host
  const staged = [instancesDir, node, agentFile, playwrightRunner, bundler, nativeCalls]
  const uids = hostUids(host, launch.uid)
  const root = host.system.path
  return [
    enter,
    launch.gpu ? gpuStage(launch.gpu, programs, launch.uid) : [],
    host.isOutOfReach ? [...stage, programs.mount, ...staged] : [],
    [programs.setpriv, ...privileges(uids?.agent ?? launch.uid)],
    [programs.bwrap, ...namespaces(host), ...identity(uids, launch.hasNetwork ?? false)],
    ['/etc', '/etc/ssl', '/home'].flatMap(directory),
    [...system(root), ...etc(root, { shared: join(seen.instances, '.shared'), names: host.shared.etc })],
    host.isInContainer ? ['--bind', '/proc', '/proc'] : ['--proc', '/proc'],
    ['--dev', '/dev'],
    tmpfs('/dev/shm', sizes.shm, '1777'),
    tmpfs('/tmp', sizes.tmp, '1777'),
    tmpfs('/var', sizes.var, '0755'),
    directory('/var/cache'),
    // Without the host's font cache, Chromium takes twice as long to start.
    ['--ro-bind-try', `${root}/var/cache/fontconfig`, '/var/cache/fontconfig'],
    tmpfs('/run', sizes.run, '0755'),
    tmpfs(instancePaths.home, launch.homeBytes, '0700'),
    // The agent writes them, and so may the tenant: they allow nothing that programs could not do anyway.
    tmpfs(instancePaths.policies, sizes.policies, '0755'),
    ['--ro-bind', launch.pub ?? join(seen.instances, launch.id, 'pub'), dirname(instancePaths.egress)],
    // A separate mount, so that nobody can rename it and put another in its place.
    tmpfs(dirname(instancePaths.agent), sizes.agent, '0755'),
    ['--ro-bind', seen.node, instancePaths.node],
    ['--ro-bind', seen.agent, instancePaths.agent],
    runner ? ['--ro-bind', runner, instancePaths.playwrightRunner] : [],
    host.isOutOfReach ? [] : (host.otherPlaywrights ?? []).flatMap(playwright),
    esbuild ? ['--ro-bind', esbuild, instancePaths.esbuild] : [],
    calls ? ['--ro-bind', calls, instancePaths.nativeCalls] : [],
    ['--remount-ro', dirname(instancePaths.agent)],
    launch.gpu ? gpuArguments(launch.gpu, { shared: join(seen.instances, '.shared'), uid: launch.uid }) : [],
    // Devices stay writable; files can no longer be created beside them.
    ['--remount-ro', '/dev', '--remount-ro', '/'],
    environment,
    ['--chdir', instancePaths.home, '--', ...launch.command],
  ].flat()
}

function privileges(uid: number | undefined): string[] {
  const none = ['--no-new-privs', '--inh-caps=-all']
  if (uid === undefined) return none
  return [`--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', ...none, '--bounding-set=-all']
}

// Not --disable-userns: Chromium creates user namespaces for its own sandbox. Not --die-with-parent: an
// instance survives a restart of the server.
function namespaces({ isInContainer = false }: Host): string[] {
  return [
    ['--unshare-user', '--unshare-ipc', '--unshare-uts', '--unshare-net'],
    isInContainer ? [] : ['--unshare-pid'],
    ['--unshare-cgroup-try', '--new-session', '--seccomp', String(descriptors.seccomp)],
    ['--hostname', INSIDE_HOSTNAME],
  ].flat()
}

function identity(uids: HostUids | undefined, hasNetwork: boolean): string[] {
  const id = String(uids ? AGENT_UID_INSIDE : INSIDE_UID)
  const own = ['--uid', id, '--gid', id]
  if (!uids) return own
  const mapping = ['--info-fd', String(descriptors.report), '--userns-block-fd', String(descriptors.go)]
  const capabilities = [...AGENT_CAPABILITIES, ...(hasNetwork ? ['NET_ADMIN'] : [])]
  return [...own, ...mapping, ...capabilities.flatMap((name) => ['--cap-add', `CAP_${name}`])]
}

const variables = { HOME: instancePaths.home, USER: INSIDE_USER, PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' }
const environment = [
  '--clearenv',
  ...Object.entries(variables).flatMap(([name, value]) => ['--setenv', name, value]),
]

function tmpfs(path: string, bytes: number, mode: string): string[] {
  return ['--perms', mode, '--size', String(bytes), '--tmpfs', path]
}

function playwright(file: string): string[] {
  return ['--ro-bind-try', file, join(dirname(instancePaths.playwrightRunner), basename(file))]
}

/** Made before what is mounted in it: otherwise bubblewrap makes it for its own uid only. */
function directory(path: string): string[] {
  return ['--perms', '0755', '--dir', path]
}

/** /usr, and the distribution's links or directories beside it. */
function system(root: string): string[] {
  const besides = ['bin', 'sbin', 'lib', 'lib32', 'lib64'].flatMap((name) => {
    const path = `/${name}`
    const stat = lstatSync(root + path, { throwIfNoEntry: false })
    if (stat?.isSymbolicLink()) return ['--symlink', readlinkSync(root + path), path]
    return stat?.isDirectory() ? ['--ro-bind', root + path, path] : []
  })
  return ['--ro-bind', `${root}/usr`, '/usr', ...besides]
}

function etc(root: string, { shared, names }: { shared: string; names: readonly string[] }): string[] {
  return [
    ...['fonts', 'ssl/certs', 'alternatives', 'ld.so.cache'].flatMap((name) => {
      return ['--ro-bind-try', `${root}/etc/${name}`, `/etc/${name}`]
    }),
    ...names.flatMap((name) => ['--ro-bind', join(shared, name), `/etc/${name}`]),
  ]
}
