// The system that instances see: a fixed, read-only choice of this machine's packages instead of its whole /usr. Each
// version has a directory that never changes. All checkouts of this machine share them, so each says which one it uses.
//
//   /var/lib/berth/system/<hash>/          what instances see
//   /var/lib/berth/system/<hash>.json      its packages and their versions
//   /var/lib/berth/system/<hash>.unused    since when no checkout uses it
//   /var/lib/berth/system/.used-by/<hash of the checkout's path>
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fonts, packages as wantedPackages, unwanted } from './contents.mjs'
import { findNpm } from './npm.mjs'
import { closureOf, hasPackages, readPackages } from './packages.mjs'
import { makeTree } from './tree.mjs'

export const SYSTEMS = '/var/lib/berth/system'
/** Change it when the same packages make another tree. */
const FORMAT = 1
const LOCK_SECONDS = 120
/** A server that has just read which system to use starts its instance well within this. */
const UNUSED_MS = 10 * 60_000

/**
 * Makes the system unless it is there, and notes that this checkout uses it. Throws where it cannot: instances then see
 * the whole /usr. `more`: names of further packages, which the operator wants.
 */
export function makeSystem({
  checkout,
  packages: chosen = wantedPackages,
  more = [],
  npm = findNpm(),
  systems = SYSTEMS,
  say,
}) {
  if (!hasPackages()) throw new Error('this is not Debian or a relative of it')
  const wanted = [...chosen, ...more, ...(npm?.package ? [npm.package] : [])]
  const installed = readPackages()
  const packages = closureOf(wanted, installed, unwanted)
  // The first is what it is for.
  if (!packages.some(({ name }) => name === wanted[0]))
    throw new Error(`${wanted[0]} is not a package of this machine`)
  const versions = Object.fromEntries(packages.map(({ name, version }) => [name, version]))
  const system = hashOf({
    FORMAT,
    versions,
    npm,
    place: timesOf([...fonts, '/etc/fonts']),
    trust: trustHash(),
  })
  mkdirSync(join(systems, '.used-by'), { recursive: true })
  // Whatever the umask is: instances pass through, and list nothing.
  for (const path of [dirname(systems), systems]) chmodSync(path, 0o711)
  const lock = takeLock(join(systems, '.lock'))
  try {
    const tree = join(systems, system)
    removeUnfinished(systems)
    if (!existsSync(tree)) {
      const startedAt = performance.now()
      const unfinished = join(systems, `.new-${system}`)
      const { files, copied } = makeTree({ tree: unfinished, packages, npm: npm?.directory })
      const absent = wanted.filter((name) => !installed.packages.has(name))
      replace(`${tree}.json`, JSON.stringify({ packages: versions, absent }))
      renameSync(unfinished, tree)
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
      say(
        `made the system for instances: ${packages.length} packages, ${files} files, ${copied} of them copied, ${seconds} s`,
      )
    }
    replace(join(systems, '.used-by', hashOf(checkout)), JSON.stringify({ checkout, system }))
    removeUnused(systems)
    return tree
  } finally {
    closeSync(lock)
  }
}

/** Of set-ups that were killed. Call with the lock. */
function removeUnfinished(systems) {
  for (const name of readdirSync(systems)) {
    if (/^\.(new|old)-/.test(name)) rmSync(join(systems, name), { recursive: true, force: true })
  }
}

/** A system goes when no checkout has used it for a while and no instance does. */
function removeUnused(systems) {
  const used = new Set(usersIn(join(systems, '.used-by')).map(({ system }) => system))
  for (const system of readdirSync(systems).filter((name) => /^[0-9a-f]{16}$/.test(name))) {
    const mark = join(systems, `${system}.unused`)
    if (used.has(system)) rmSync(mark, { force: true })
    else if (!existsSync(mark)) writeFileSync(mark, '')
    else if (Date.now() - statSync(mark).mtimeMs > UNUSED_MS && !isMounted(`/${system}/`)) {
      // Never half of one under its name.
      const removed = join(systems, `.old-${system}`)
      renameSync(join(systems, system), removed)
      for (const path of [removed, mark, join(systems, `${system}.json`)])
        rmSync(path, { recursive: true, force: true })
    }
  }
}

/** Forgets checkouts that are gone. */
function usersIn(directory) {
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name)
    try {
      const user = JSON.parse(readFileSync(path, 'utf8'))
      if (existsSync(user.checkout)) return user
    } catch {
      // Not one of ours.
    }
    rmSync(path, { force: true })
    return []
  })
}

function isMounted(part) {
  return readdirSync('/proc').some((pid) => {
    if (!/^\d+$/.test(pid)) return false
    try {
      return readFileSync(`/proc/${pid}/mountinfo`, 'utf8').includes(part)
    } catch {
      return false
    }
  })
}

/** Node cannot take a lock, but flock(1) can take it on a descriptor that it shares with us. */
function takeLock(path) {
  const descriptor = openSync(path, 'a', 0o600)
  const { status } = spawnSync('flock', ['--exclusive', '--timeout', String(LOCK_SECONDS), '3'], {
    stdio: ['ignore', 'ignore', 'ignore', descriptor],
  })
  if (status === 0) return descriptor
  closeSync(descriptor)
  throw new Error(`another set-up holds ${path}`)
}

function replace(path, text) {
  writeFileSync(`${path}.new`, text, { mode: 0o644 })
  renameSync(`${path}.new`, path)
}

function hashOf(value) {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

/** Of all directories below: they change when a file comes or goes. */
function timesOf(paths) {
  return paths
    .filter((path) => existsSync(path))
    .flatMap((path) => {
      const below = readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory())
      return [[path, statSync(path).mtimeMs], ...timesOf(below.map(({ name }) => join(path, name)))]
    })
}

function trustHash() {
  const bundle = '/etc/ssl/certs/ca-certificates.crt'
  return existsSync(bundle) ? hashOf(readFileSync(bundle, 'utf8')) : ''
}
