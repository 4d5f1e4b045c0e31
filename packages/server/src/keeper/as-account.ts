// Starts one of our programs as the account of the server: no root, no capabilities, no way to get any. What only root
// may do or read is done before: giving it its files, and opening those that its settings name.
import { spawn, type ChildProcess } from 'node:child_process'
import { chownSync, closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Config } from '../config/config.ts'
import { fileSettings } from '../config/settings/settings.ts'
import { findProgram } from '../instances/local/programs.ts'
import { ACCOUNT_NAME, type Account } from '../platform/account.ts'
import { installationRoot } from '../platform/files/installation.ts'
import { giveDataDirectory, giveDirectory } from './data-directory.ts'
import { mayRead, viewFor, withView } from './reach.ts'

export interface AccountProgram {
  readonly config: Config
  readonly account: Account
  /** The program and its arguments. */
  readonly command: readonly [string, ...string[]]
  readonly env: NodeJS.ProcessEnv
  /** Whether it gets a channel to this process. */
  readonly hasChannel: boolean
  /** More that it may use, besides the data directory and that of its files. */
  readonly directories?: readonly string[]
}

/** Descriptors of files begin after the usual three and the channel. */
const FIRST_FILE = 4

export function startAsAccount(program: AccountProgram): ChildProcess {
  const { config, account, command, env, hasChannel, directories = [] } = program
  const dataDir = giveDataDirectory(config.BERTH_DATA_DIR, account)
  const place = config.BERTH_BLOBS
  const blobDir = place?.kind === 'directory' ? giveDirectory(place.path, account) : undefined
  const more = [...directories.map((path) => giveDirectory(path, account)), ...(blobDir ? [blobDir] : [])]
  const cache = env['NODE_COMPILE_CACHE'] && giveCompileCache(env['NODE_COMPILE_CACHE'], account)
  const needed = [
    installationRoot,
    dirname(dirname(process.execPath)),
    dataDir,
    ...more,
    ...(cache ? [cache] : []),
  ]
  if (!mayRead(command[0], account)) {
    throw new Error(
      `Cannot start: the account "${ACCOUNT_NAME}", which the server runs as, may not read "${command[0]}"; run chmod -R go+rX ${installationRoot}`,
    )
  }
  const files = openSettingFiles(env)
  const [first, ...args] = withView(
    viewFor(needed, account),
    [need('setpriv'), ...privileges(account), process.execPath, ...command],
    { unshare: need('unshare'), sh: need('sh'), mount: need('mount') },
  ) as [string, ...string[]]
  try {
    return spawn(first, args, {
      cwd: '/',
      // Its own session, so that Ctrl-C reaches this process only, which passes it on.
      detached: true,
      stdio: [
        ...(['inherit', 'inherit', 'inherit'] as const),
        hasChannel ? 'ipc' : 'ignore',
        ...files.map((file) => file.descriptor),
      ],
      env: {
        ...env,
        ...Object.fromEntries(files.map(({ name }, index) => [name, `/dev/fd/${FIRST_FILE + index}`])),
        BERTH_DATA_DIR: dataDir,
        // The path of a setting may be relative to where root started this.
        ...(blobDir !== undefined && { BERTH_BLOBS: blobDir }),
        ...npmSettings(env),
        HOME: '/nonexistent',
        ...(cache && { NODE_COMPILE_CACHE: cache }),
      },
    })
  } finally {
    for (const { descriptor } of files) closeSync(descriptor)
  }
}

function privileges({ uid, gid }: Account): string[] {
  const identity = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups']
  const nothing = ['--no-new-privs', '--inh-caps=-all', '--bounding-set=-all']
  // Set last by setpriv: the kernel forgets it when the uid changes.
  return [...identity, ...nothing, '--pdeathsig', 'KILL']
}

function need(name: string): string {
  const path = findProgram(name)
  if (path === undefined) throw new Error(`Cannot start as root: the program "${name}" is missing`)
  return path
}

/** Root may read files that the account may not, such as the key of a certificate. */
function openSettingFiles(env: NodeJS.ProcessEnv): { name: string; descriptor: number }[] {
  return fileSettings.flatMap((name) => {
    const path = env[name]?.trim()
    return path ? [{ name, descriptor: openSync(path, 'r') }] : []
  })
}

/** The registry that root's own npm uses; the account cannot read root's settings. */
function npmSettings({ HOME, BERTH_NPM_REGISTRY }: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  if (BERTH_NPM_REGISTRY || !HOME) return {}
  try {
    const [, registry] = /^registry\s*=\s*"?([^\s"]+)/m.exec(readFileSync(join(HOME, '.npmrc'), 'utf8')) ?? []
    return registry !== undefined && URL.canParse(registry) ? { BERTH_NPM_REGISTRY: registry } : {}
  } catch {
    return {}
  }
}

/** Compiled code for the account only: what it writes there, root must never run. */
function giveCompileCache(path: string, { uid, gid }: Account): string {
  const own = `${path}-of-account`
  mkdirSync(own, { recursive: true, mode: 0o700 })
  chownSync(own, uid, gid)
  return own
}
