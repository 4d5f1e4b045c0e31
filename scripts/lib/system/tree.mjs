// Makes a directory with the files of this machine that instances may see. Files are hard links, which cost no disk and
// share the memory that the machine's own have; on another file system they are copies. dpkg replaces files and never
// writes into them, so an update of the machine does not change a tree.
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { certificates, fonts, generated, leftOut } from './contents.mjs'
import { filesOf, readAlternatives } from './packages.mjs'

const triplets = { x64: 'x86_64-linux-gnu', arm64: 'aarch64-linux-gnu' }
const triplet = triplets[process.arch]
/** Of which distributions make links or directories. */
const TOP = ['bin', 'sbin', 'lib', 'lib32', 'lib64']
const SET_ID = 0o6000
const READABLE_BY_ALL = 0o004
const WRITABLE_BY_OTHERS = 0o022
/** Where an instance has its Node; see instancePaths in packages/contracts. */
const NODE_INSIDE = '/run/berth-agent/node'

const TRIAL_TIMEOUT_MS = 20_000
const trials = [
  ['/usr/lib/chromium/chromium', '--version'],
  ['/usr/bin/Xvnc', '-version'],
  ['/usr/bin/ffmpeg', '-version'],
  ['/usr/bin/perl', '-v'],
  ['/usr/bin/python3', '--version'],
]

/** `npm`: the directory of npm on this machine, if instances can use it. */
export function makeTree({ tree, packages, npm }) {
  const maker = new TreeMaker(tree)
  for (const name of TOP) maker.addTop(name)
  for (const entry of packages) {
    for (const path of filesOf(entry)) if (!leftOut.test(path)) maker.add(path)
  }
  maker.addAlternatives()
  const names = new Set(packages.map(({ name }) => name))
  for (const { of, path } of generated) if (names.has(of)) maker.addAll(path.replace('TRIPLET', triplet))
  for (const path of certificates) maker.addAll(path)
  // Font directories keep their times: by them fontconfig knows that its cache is fresh.
  for (const path of [...fonts, '/var/cache/fontconfig']) maker.addExactly(path, { isLinked: true })
  maker.addExactly('/etc/fonts', { isLinked: false })
  if (npm !== undefined) maker.addNpm(npm)
  maker.addLibraryCache()
  maker.removeCapable()
  maker.tryPrograms()
  return { files: maker.files, copied: maker.copied }
}

class TreeMaker {
  files = 0
  copied = 0
  #tree
  #directories = new Map()
  #copies = new Map()

  constructor(tree) {
    this.#tree = tree
    mkdirSync(tree, { recursive: true })
    chmodSync(tree, 0o755)
  }

  addTop(name) {
    const stat = lstatSync(`/${name}`, { throwIfNoEntry: false })
    if (stat?.isSymbolicLink()) symlinkSync(readlinkSync(`/${name}`), this.#at(`/${name}`))
    else if (stat?.isDirectory()) this.#makeDirectory(`/${name}`)
  }

  /** Only below /usr and the directories beside it, and only what everybody may read. */
  add(path) {
    const directory = realDirectory(dirname(path))
    if (directory === undefined || !/^\/(usr|bin|sbin|lib\w*)(\/|$)/.test(directory)) return
    const isFont = fonts.some((each) => `${directory}/`.startsWith(`${each}/`))
    if (!isFont) this.#put(join(directory, basename(path)))
  }

  /** The file or directory with all that is in it. */
  addAll(path) {
    if (!existsSync(path)) return
    if (!lstatSync(path).isDirectory()) this.#put(path)
    else for (const name of readdirSync(path)) this.addAll(join(path, name))
  }

  /** With the times of its directories. Not linked: what people write into, because a link would change with it. */
  addExactly(path, { isLinked }) {
    if (!existsSync(path)) return
    this.#makeDirectory(dirname(path))
    const to = this.#at(dirname(path))
    const copy = (...how) =>
      spawnSync('cp', ['--archive', ...how, '--', path, to], { env: commandEnvironment })
    if (!isLinked || copy('--link').status !== 0) {
      rmSync(this.#at(path), { recursive: true, force: true })
      const { status, stderr } = copy('--reflink=auto')
      if (status !== 0) throw new Error(`cannot copy ${path}: ${stderr}`)
    }
    for (const directory of directoriesBelow(this.#at(path))) chmodSync(directory, 0o755)
  }

  /** Those whose program is in the tree. */
  addAlternatives() {
    const groups = listIfThere('/var/lib/dpkg/alternatives')
    for (const { name, link } of readAlternatives(groups)) {
      const place = `/etc/alternatives/${name}`
      const target = linkIfThere(place)
      const directory = realDirectory(dirname(link))
      if (target === undefined || directory === undefined || !this.#has(target)) continue
      this.#put(place)
      this.#put(join(directory, basename(link)))
    }
  }

  /** Its files, the commands that lead there, and the instance's own Node for them. */
  addNpm(npm) {
    this.addAll(npm)
    for (const name of ['npm', 'npx']) {
      for (const directory of ['/usr/bin', '/usr/local/bin']) {
        const target = linkIfThere(join(directory, name))
        if (target !== undefined) this.#put(join(directory, name))
      }
    }
    if (!this.#has('/usr/bin/node')) symlinkSync(NODE_INSIDE, this.#at('/usr/bin/node'))
  }

  /** That of the machine would name every library that it has. */
  addLibraryCache() {
    const directories = ['/usr/local/lib', `/lib/${triplet}`, `/usr/lib/${triplet}`]
    this.#makeDirectory('/etc')
    writeFileSync(this.#at('/etc/ld.so.conf'), `${directories.join('\n')}\n`)
    const { status, stderr } = spawnSync('ldconfig', ['-X', '-r', this.#tree], { env: commandEnvironment })
    if (status !== 0) throw new Error(`ldconfig failed: ${stderr}`)
  }

  /** Capabilities are useless inside. Who can give them to a file has this program too. */
  removeCapable() {
    const { stdout } = spawnSync('getcap', ['-r', this.#tree], { env: commandEnvironment, encoding: 'utf8' })
    for (const line of (stdout ?? '').split('\n')) {
      const path = /^(\/.+?) (= )?cap_/.exec(line)?.[1]
      if (path?.startsWith(this.#tree)) rmSync(path)
    }
  }

  /** A library that is missing shows here, not in a session. */
  tryPrograms() {
    for (const [program, ...args] of trials) {
      if (!this.#has(program)) continue
      const { status, stderr } = spawnSync('chroot', [this.#tree, program, ...args], {
        env: commandEnvironment,
        timeout: TRIAL_TIMEOUT_MS,
        encoding: 'utf8',
      })
      if (status !== 0) throw new Error(`${program} does not start in it: ${stderr.trim()}`)
    }
  }

  #put(path) {
    const to = this.#at(path)
    const stat = lstatSync(path, { throwIfNoEntry: false })
    if (stat === undefined || this.#has(path)) return
    if (stat.isSymbolicLink()) {
      this.#makeDirectory(dirname(path))
      symlinkSync(readlinkSync(path), to)
      this.files++
    } else if (stat.isFile() && (stat.mode & SET_ID) === 0 && (stat.mode & READABLE_BY_ALL) !== 0) {
      this.#makeDirectory(dirname(path))
      this.#linkOrCopy(path, to, stat)
      this.files++
      if (path.endsWith('.py')) this.#putCompiled(path)
    }
  }

  /** Copied is what others than root could change, and all of it on another file system. */
  #linkOrCopy(from, to, { dev, ino, uid, mode }) {
    if (uid === 0 && (mode & WRITABLE_BY_OTHERS) === 0 && couldLink(from, to)) return
    // git has one program under 150 names.
    const file = `${dev}:${ino}`
    const copy = this.#copies.get(file)
    if (copy !== undefined && couldLink(copy, to)) return
    copyFileSync(from, to, constants.COPYFILE_FICLONE)
    chmodSync(to, mode & 0o755)
    this.#copies.set(file, to)
    this.copied++
  }

  /** Python cannot write them in an instance, and would compile its libraries at every start. */
  #putCompiled(path) {
    const directory = join(dirname(path), '__pycache__')
    const prefix = `${basename(path, '.py')}.cpython-`
    for (const name of this.#compiledIn(directory)) {
      if (name.startsWith(prefix)) this.#put(join(directory, name))
    }
  }

  #compiledIn(directory) {
    if (!this.#directories.has(directory)) this.#directories.set(directory, listIfThere(directory))
    return this.#directories.get(directory)
  }

  #makeDirectory(path) {
    if (path === '/' || existsSync(this.#at(path))) return
    this.#makeDirectory(dirname(path))
    mkdirSync(this.#at(path))
    chmodSync(this.#at(path), 0o755)
  }

  /** Also a link that leads nowhere. */
  #has(path) {
    return lstatSync(this.#at(path), { throwIfNoEntry: false }) !== undefined
  }

  #at(path) {
    return join(this.#tree, path)
  }
}

/** Programs get nothing of our environment but where programs are. */
const commandEnvironment = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' }
const real = new Map()

/** Old lists say /bin/sh where /bin is a link to /usr/bin. */
function realDirectory(path) {
  if (!real.has(path)) {
    try {
      real.set(path, realpathSync(path))
    } catch {
      real.set(path, undefined)
    }
  }
  return real.get(path)
}

function couldLink(from, to) {
  try {
    linkSync(from, to)
    return true
  } catch {
    return false
  }
}

function linkIfThere(path) {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

function listIfThere(path) {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}

function directoriesBelow(path) {
  const entries = readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  return [path, ...entries.flatMap(({ name }) => directoriesBelow(join(path, name)))]
}
