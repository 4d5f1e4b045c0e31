// Runs while the image is built: makes the bundles, and collects what the server runs from in one directory. Most packages
// are in the bundles already, so only those that the bundles leave outside are collected, with what these need.
//
//   <out>/node           the Node of scripts/node
//   <out>/node_modules   the packages
//   <out>/packages       the bundles
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { linkPostgres } from '../lib/postgres-links.mjs'
import { makeBundles } from '../lib/setup.mjs'

const root = join(import.meta.dirname, '../..')
const [out] = process.argv.slice(2)

linkPostgres(root)
makeBundles(root, process.execPath)
copy(`scripts/node/node_modules/node-linux-${process.arch}/bin/node`, 'node')
for (const name of ['agent', 'server', 'web']) {
  copy(`packages/${name}/dist`)
  copy(`packages/${name}/package.json`)
}
copy('packages/server/bin')
const { external } = await import('../../packages/server/build.ts')
// Apps are bundled with it, inside instances.
const wanted = [...external.flatMap(installed), `@esbuild/linux-${process.arch}`]
/** Types and source maps: nothing reads them, and they are half of the files. */
const UNREAD = /\.([cm]?ts|map)$/
const collected = new Set()
for (const name of wanted) collect(name, root)
console.log(`collected ${collected.size} packages`)

/** The package and all that it needs, as Node finds them from the directory `from`. */
function collect(name, from) {
  const directory = find(name, from)
  // What is only for other machines is not installed.
  if (directory === undefined || collected.has(directory)) return
  collected.add(directory)
  copy(relative(root, directory), relative(root, directory), {
    filter: (path) => path !== join(directory, 'node_modules') && !UNREAD.test(path),
  })
  const { dependencies, optionalDependencies } = JSON.parse(
    readFileSync(join(directory, 'package.json'), 'utf8'),
  )
  for (const each of Object.keys({ ...dependencies, ...optionalDependencies })) collect(each, directory)
}

function find(name, from) {
  for (let directory = from; ; directory = dirname(directory)) {
    const found = join(directory, 'node_modules', name)
    if (existsSync(join(found, 'package.json'))) return found
    if (directory === root) return undefined
  }
}

/** `@aws-sdk/*` stands for all packages of that scope that the server names itself. */
function installed(pattern) {
  const { dependencies, optionalDependencies } = JSON.parse(
    readFileSync(join(root, 'packages/server/package.json'), 'utf8'),
  )
  const names = Object.keys({ ...dependencies, ...optionalDependencies })
  if (!pattern.endsWith('/*')) return names.filter((name) => name === pattern)
  return names.filter((name) => name.startsWith(pattern.slice(0, -1)))
}

function copy(from, to = from, options = {}) {
  const target = join(out, to)
  mkdirSync(dirname(target), { recursive: true })
  cpSync(join(root, from), target, { recursive: true, verbatimSymlinks: true, ...options })
}
