// Finds out why instances would not be safe on this host. It tries instead of asking: it starts an
// instance like any other, with a program that does nothing.
import { accessSync, constants, readFileSync, readdirSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { isInImage } from '@berth/kit/in-image'
import type { Capabilities, DeepStandbyReport, GpuReport } from '../driver/driver.ts'
import type { Cgroups } from './cgroup.ts'
import type { Host } from './launch.ts'
import { findProgram, type Programs } from './programs.ts'
import { runTrial, type Trial } from './trial.ts'
import { UID_COUNT } from './uids.ts'

const TRIAL_WITHIN_MS = 10_000
const MiB = 1024 * 1024
/** Ends a message about what only the operator can give. */
const CONTAINER = 'start the container with the options that docs/install.md names'
const trialLimits = { memoryBytes: 256 * MiB, processes: 64, cpus: 1, homeBytes: 16 * MiB }

export const isRoot = (): boolean => process.getuid!() === 0

export function capabilitiesOf(
  cgroups: Cgroups,
  gpu: GpuReport,
  deepStandby: DeepStandbyReport,
): Capabilities {
  return {
    headful: ['Xvnc', 'Xtigervnc', 'Xvfb'].some((program) => findProgram(program) !== undefined),
    gpu,
    freeze: cgroups.canFreeze,
    deepStandby,
    locales: new Set(
      listIfThere('/usr/lib/chromium/locales').flatMap((name) => /^([\w-]+)\.pak$/.exec(name)?.[1] ?? []),
    ),
  }
}

/** `sharedUid` says why the agent has no uid of its own. */
export function weaknesses(cgroups: Cgroups, sharedUid: string | undefined): string[] {
  const found: string[] = []
  if (!isRoot()) {
    found.push(
      `The server does not run as root, so all instances share one uid: ${isInImage ? CONTAINER : 'run it as root'}`,
    )
  } else if (sharedUid !== undefined) {
    found.push(`The agent has the uid of what tenants run, because ${sharedUid}`)
  }
  if (cgroups.missing.length > 0) {
    found.push(
      `Instances cannot be limited, because the server cannot write these control groups (${cgroups.missing.join(', ')}): ${isInImage ? CONTAINER : 'run it as root, under systemd with Delegate=yes, or in a container with writable cgroups'}`,
    )
  }
  return found
}

interface Found {
  readonly host: Host
  /** Why the agent has no uid of its own, if it has none. */
  readonly sharedUid: string | undefined
  /** Why instances do not start, if they do not. */
  readonly failures: readonly string[]
}

/** How instances start here: with a uid for the agent, else without. */
export async function tryHost(trial: Trial): Promise<Found> {
  const { host, uid } = trial
  const failures = await tryLaunch(trial)
  if (host.nativeCalls === undefined) {
    return { host, sharedUid: `koffi has no build for ${process.arch} here: run npm ci`, failures }
  }
  if (failures.length === 0 || uid === undefined) return { host, sharedUid: undefined, failures }
  const plain = { ...host, nativeCalls: undefined }
  if ((await tryLaunch({ ...trial, host: plain })).length > 0) return { host, sharedUid: undefined, failures }
  return { host: plain, sharedUid: `it cannot have another (${failures.join('; ')})`, failures: [] }
}

/** Returns nothing when an instance starts here, otherwise why not. */
async function tryLaunch(trial: Trial): Promise<string[]> {
  try {
    const run = { command: ['/usr/bin/true'], limits: trialLimits, withinMs: TRIAL_WITHIN_MS }
    const { code, output } = await runTrial(trial, run)
    if (code === 0) return []
    throw new Error(output || `code ${code}`)
  } catch (error) {
    return [`Bubblewrap cannot make a sandbox here (${(error as Error).message})${userNamespaceHint()}`]
  }
}

/** Whether an instance's uid cannot open the files that it needs to start. */
export function isOutOfReach(programs: Programs, uid: number | undefined, paths: readonly string[]): boolean {
  if (uid === undefined) return false
  const become = [`--reuid=${uid}`, `--regid=${uid}`, '--clear-groups']
  // All in one expression, because each program that is started delays the start of the server.
  const tests = paths.map((path) => ['(', '-x', path, '-o', '-r', path, ')'])
  const expression = tests.flatMap((each, index) => (index === 0 ? each : ['-a', ...each]))
  try {
    execFileSync(programs.setpriv, [...become, '/usr/bin/test', ...expression], { stdio: 'ignore', env: {} })
    return false
  } catch {
    return true
  }
}

/** In a container with a user namespace, not every uid exists. */
export function missingUids(base: number): string[] {
  if (!isRoot()) return []
  const ranges = readFileSync('/proc/self/uid_map', 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number) as [number, number, number])
  const isMapped = (uid: number) => ranges.some(([first, , count]) => uid >= first && uid < first + count)
  if (isMapped(base) && isMapped(base + UID_COUNT - 1)) return []
  return [
    `The host has no uids ${base} to ${base + UID_COUNT - 1} for instances: set BERTH_INSTANCE_UID_BASE to the first of ${UID_COUNT} that it has (see /proc/self/uid_map)`,
  ]
}

/** Files that every instance needs. */
export function missingFiles(ours: { agentFile: string; playwrightRunner?: string }): string[] {
  const parts = [
    { name: 'The agent', path: ours.agentFile },
    { name: 'The Playwright runner', path: ours.playwrightRunner },
  ]
  return [
    ...parts.flatMap(({ name, path }) =>
      path === undefined || isThere(path) ? [] : [`${name} is missing at "${path}": run npm run setup`],
    ),
    ...(isThere('/usr/bin/chromium') ? [] : ['Chromium is missing: run apt-get install chromium']),
  ]
}

function isThere(path: string): boolean {
  try {
    accessSync(path, constants.R_OK)
    return true
  } catch {
    return false
  }
}

const userNamespaceSettings = [
  { path: '/proc/sys/user/max_user_namespaces', bad: '0', remedy: 'sysctl user.max_user_namespaces=15000' },
  {
    path: '/proc/sys/kernel/unprivileged_userns_clone',
    bad: '0',
    remedy: 'sysctl kernel.unprivileged_userns_clone=1',
  },
  {
    path: '/proc/sys/kernel/apparmor_restrict_unprivileged_userns',
    bad: '1',
    remedy: 'sysctl kernel.apparmor_restrict_unprivileged_userns=0',
  },
]

function userNamespaceHint(): string {
  const setting = userNamespaceSettings.find(({ path, bad }) => {
    try {
      return readFileSync(path, 'utf8').trim() === bad
    } catch {
      return false
    }
  })
  if (setting) return `: user namespaces are off, run ${setting.remedy}`
  return isInImage ? `: ${CONTAINER}` : ''
}

function listIfThere(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}
