// Looks at this machine and at the server in use. Every line that is not fine says what to do.
import { spawnSync } from 'node:child_process'
import { existsSync, statfsSync, statSync } from 'node:fs'
import { totalmem } from 'node:os'
import { delimiter, join } from 'node:path'
import systemPackages from '../../../../scripts/lib/system-packages.json' with { type: 'json' }
import { Api } from '../api/api.ts'
import { checkKey } from '../access/key.ts'
import type { Context } from '../command/context.ts'
import { chooseServer } from '../contexts/choose.ts'
import { contextsFile } from '../contexts/store.ts'
import { exitCodes } from '../basics/exit-codes.ts'
import { describe, ExitWith } from '../basics/failure.ts'
import { print } from '../output/print.ts'
import { sizeText } from '../output/value-text.ts'
import { findClone } from './clone.ts'
import { isUp } from './up.ts'

interface Finding {
  readonly check: string
  readonly state: 'ok' | 'warning' | 'problem'
  readonly found: string
  readonly remedy?: string
}

const MIN_NODE = 20
const MIN_MEMORY_BYTES = 3_500_000_000
const MIN_DISK_BYTES = 5_000_000_000

export async function run(context: Context): Promise<void> {
  const { terminal, format } = context
  const clone = findClone(undefined)
  const findings = [
    ...program(),
    ...(clone === undefined ? [] : machine(clone)),
    ...(await serverInUse(context)),
  ]
  const isText = format === 'table' || format === 'wide'
  if (!isText) await print(terminal, findings, { format })
  else for (const each of findings) terminal.out.write(lineOf(terminal, each))
  if (findings.some(({ state }) => state === 'problem')) throw new ExitWith(exitCodes.failed)
}

const MARKS = {
  ok: ['green', 'ok     '],
  warning: ['yellow', 'warning'],
  problem: ['red', 'problem'],
} as const

function lineOf(terminal: Context['terminal'], { check, state, found, remedy }: Finding): string {
  const [colour, mark] = MARKS[state]
  const line = `${terminal.paint(colour, mark)}  ${check}: ${found}\n`
  return remedy === undefined ? line : `${line}         ${terminal.paint('dim', remedy)}\n`
}

const verdict = (isOk: boolean, otherwise: Finding['state']) => (isOk ? 'ok' : otherwise)

function finding(
  check: string,
  {
    isOk,
    found,
    remedy,
    otherwise = 'problem',
  }: { isOk: boolean; found: string; remedy: string; otherwise?: Finding['state'] },
): Finding {
  return { check, state: verdict(isOk, otherwise), found, ...(!isOk && { remedy }) }
}

function program(): Finding[] {
  const file = contextsFile()
  const mode = existsSync(file) ? statSync(file).mode & 0o777 : undefined
  return [
    finding('Node', {
      isOk: Number(process.versions.node.split('.')[0]) >= MIN_NODE,
      found: process.versions.node,
      remedy: `Install Node ${MIN_NODE} or newer`,
    }),
    finding('Stored keys', {
      isOk: mode === undefined || (mode & 0o077) === 0,
      found: mode === undefined ? 'none' : `${file}, mode ${mode.toString(8)}`,
      remedy: `Others can read your keys: chmod 600 ${file}`,
    }),
  ]
}

/** What a server on this machine needs. */
function machine(clone: string): Finding[] {
  const isLinux = process.platform === 'linux'
  const system = finding('System', {
    isOk: isLinux,
    found: `${process.platform} ${process.arch}`,
    remedy: 'A server runs on Linux only; use its container image, or another machine',
  })
  if (!isLinux) return [system]
  const isRoot = process.getuid!() === 0
  const absent = systemPackages.filter((entry) => !isThere(entry))
  const names = absent.map((entry) => entry.package).join(' ')
  const memory = totalmem()
  const disk = statfsSync(clone)
  const free = disk.bavail * disk.bsize
  return [
    system,
    finding('User', {
      isOk: isRoot,
      found: isRoot ? 'root' : 'not root',
      otherwise: 'warning',
      remedy: 'Start the server as root: only then has each browser its own user, network and limits',
    }),
    finding('Packages for sessions', {
      isOk: absent.length === 0,
      found: absent.length === 0 ? `all ${systemPackages.length} are there` : `missing: ${names}`,
      otherwise: isRoot && hasCommand('apt-get') ? 'warning' : 'problem',
      remedy:
        isRoot && hasCommand('apt-get')
          ? 'The next start installs them; or run: apt-get install ' + names
          : `Run as root: apt-get install ${names}`,
    }),
    finding('Python for apps', {
      isOk: hasCommand('python3'),
      found: hasCommand('python3') ? versionOf('python3') : 'missing',
      otherwise: 'warning',
      remedy: 'Python apps need it: apt-get install python3 python3-pip',
    }),
    finding('git for deployments', {
      isOk: hasCommand('git'),
      found: hasCommand('git') ? versionOf('git') : 'missing',
      otherwise: 'warning',
      remedy: 'Deployments from a repository need it: apt-get install git',
    }),
    finding('User namespaces', {
      isOk: existsSync('/proc/self/ns/user'),
      found: existsSync('/proc/self/ns/user') ? 'yes' : 'no',
      remedy: 'The kernel needs CONFIG_USER_NS',
    }),
    finding('Control groups', {
      isOk: existsSync('/sys/fs/cgroup'),
      found: existsSync('/sys/fs/cgroup/cgroup.controllers')
        ? 'version 2'
        : existsSync('/sys/fs/cgroup')
          ? 'version 1'
          : 'none',
      otherwise: 'warning',
      remedy: 'Without them a session has no limit on memory: mount /sys/fs/cgroup',
    }),
    finding('Memory', {
      isOk: memory >= MIN_MEMORY_BYTES,
      found: sizeText(memory),
      otherwise: 'warning',
      remedy: 'A session takes 0.3 to 2 GB; with less than 4 GB only a few run',
    }),
    finding('Disk', {
      isOk: free >= MIN_DISK_BYTES,
      found: `${sizeText(free)} free`,
      otherwise: 'warning',
      remedy: `Free some: profiles, replays and packages need it`,
    }),
  ]
}

interface SystemPackage {
  readonly package: string
  readonly command?: string
  readonly file?: string
}

const PATH = `${process.env['PATH'] ?? ''}${delimiter}/usr/sbin${delimiter}/sbin`
const hasCommand = (name: string) =>
  PATH.split(delimiter).some((directory) => existsSync(join(directory, name)))
const isThere = ({ command, file }: SystemPackage) =>
  file === undefined ? hasCommand(command!) : existsSync(file)

function versionOf(command: string): string {
  const { stdout } = spawnSync(command, ['--version'], { encoding: 'utf8' })
  return stdout.trim().split('\n')[0] ?? 'unknown version'
}

async function serverInUse({ contextName, signal, options }: Context): Promise<Finding[]> {
  const chosen = await chooseServer({
    context: contextName,
    project: options['project'] as string | undefined,
  })
  const isReachable = await isUp(chosen.url)
  const reached = finding('Server', {
    isOk: isReachable,
    found: `${chosen.url} (${chosen.from})${isReachable ? '' : ' does not answer'}`,
    remedy: 'Start one with "berth up", or choose another with "berth context use NAME" or KERNEL_BASE_URL',
  })
  if (!isReachable) return [reached]
  return [reached, await ready(chosen.url), await key(chosen, signal)]
}

async function ready(url: string): Promise<Finding> {
  const response = await fetch(`${url}/ready`, { signal: AbortSignal.timeout(5_000) })
  const text = await response.text()
  return finding('Sessions', {
    isOk: response.ok,
    found: response.ok ? 'the server can create them' : text.slice(0, 300),
    remedy: 'See the log of the server',
  })
}

async function key(server: Api['server'], signal: AbortSignal): Promise<Finding> {
  const remedy = 'Log in with "berth login"'
  if (server.key === undefined) return finding('Key', { isOk: false, found: 'none', remedy })
  try {
    const { authorization } = await checkKey(server, signal)
    return finding('Key', {
      isOk: true,
      found: `works, for ${scopeText(authorization?.effective_scope)}`,
      remedy,
    })
  } catch (error) {
    return finding('Key', { isOk: false, found: describe(error).text.split('\n')[0]!, remedy })
  }
}

function scopeText(scope: unknown): string {
  const { project_id: id } = (scope ?? {}) as { project_id?: string | null }
  return id ? `the project ${id}` : 'the whole organisation'
}
