// Prepares a Node app: installs the packages of its lockfile and compiles its TypeScript.
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { instancePaths } from '@berth/contracts/link'
import type { BuildOrder } from '@berth/contracts/app-link'
import { isTypeScript, mainOf, type Places } from '../workers/places.ts'
import { BuildFailed, lines } from './program.ts'
import { pathExists } from '../../user/path-exists.ts'

export interface StepOptions {
  readonly order: BuildOrder
  readonly places: Places
  readonly env: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

const LOCKFILES = ['package-lock.json', 'npm-shrinkwrap.json']
const OTHER_LOCKFILES = ['pnpm-lock.yaml', 'yarn.lock', 'bun.lock', 'bun.lockb']

export async function* installNodePackages({
  order,
  places,
  env,
  signal,
}: StepOptions): AsyncGenerator<string> {
  if (!(await needsPackages(places.root))) return
  if (order.npm === undefined) {
    throw new BuildFailed(
      'Cannot install packages: the host of this server has no npm below /usr; its operator can install it there',
    )
  }
  const isLocked = isAnyThere(places.root, LOCKFILES)
  if (!isLocked && isAnyThere(places.root, OTHER_LOCKFILES)) {
    yield 'Only a package-lock.json is honoured; packages are chosen anew from package.json'
  }
  const command = isLocked ? ['ci'] : ['install', '--no-package-lock']
  yield `npm ${command.join(' ')}`
  const cache = join(places.home, '.berth-npm')
  const quiet = ['--no-audit', '--no-fund', '--no-progress', '--no-update-notifier', '--omit=dev']
  yield* lines('install the packages', {
    command: [instancePaths.node, order.npm, ...command, ...quiet],
    cwd: places.root,
    env: {
      ...env,
      ...(order.npmRegistry !== undefined && { npm_config_registry: order.npmRegistry }),
      npm_config_cache: cache,
      npm_config_ignore_scripts: 'false',
      npm_config_fetch_retries: '1',
    },
    signal,
  })
  await rm(cache, { recursive: true, force: true })
}

async function needsPackages(root: string): Promise<boolean> {
  let text: string
  try {
    text = await readFile(join(root, 'package.json'), 'utf8')
  } catch {
    return false
  }
  try {
    const { dependencies = {}, optionalDependencies = {} } = JSON.parse(text) as Record<
      string,
      object | undefined
    >
    return Object.keys(dependencies).length + Object.keys(optionalDependencies).length > 0
  } catch (error) {
    throw new BuildFailed(`Cannot read package.json: ${(error as Error).message}`)
  }
}

function isAnyThere(root: string, names: readonly string[]): boolean {
  return names.some((name) => pathExists(join(root, name)))
}

/** Bundles the app's own files into one, with the paths and decorators of its tsconfig.json. Packages stay separate. */
export async function* bundleTypeScript({ order, places, env, signal }: StepOptions): AsyncGenerator<string> {
  if (!isTypeScript(order.entrypoint)) return
  const out = mainOf(places, order.entrypoint)
  yield* lines('bundle the TypeScript', {
    command: [
      places.esbuild,
      join(places.root, order.entrypoint),
      '--bundle',
      '--platform=node',
      '--target=node24',
      '--format=esm',
      '--packages=external',
      '--sourcemap=inline',
      '--log-level=warning',
      '--color=false',
      `--outfile=${out}`,
    ],
    cwd: places.root,
    env,
    signal,
  })
}
