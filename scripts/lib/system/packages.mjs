// Reads what dpkg wrote about the packages of this machine. Its files are stable and documented, and quicker to read than
// its programs are to start.
import { existsSync, readFileSync } from 'node:fs'

const DPKG = '/var/lib/dpkg'
const architectures = { x64: 'amd64', arm64: 'arm64' }
const FIELDS = /^(Package|Status|Architecture|Version|Depends|Pre-Depends|Provides|Section): (.*)$/gm

export const hasPackages = () => existsSync(`${DPKG}/status`)

/** The installed packages by name, and which of them provide a name that no package has. */
export function readPackages() {
  const native = architectures[process.arch]
  const packages = new Map()
  const providers = new Map()
  for (const block of readFileSync(`${DPKG}/status`, 'utf8').split('\n\n')) {
    const fields = Object.fromEntries([...block.matchAll(FIELDS)].map(([, name, value]) => [name, value]))
    if (fields.Status !== 'install ok installed') continue
    if (fields.Architecture !== 'all' && fields.Architecture !== native) continue
    const depends = [fields['Pre-Depends'], fields.Depends].filter(Boolean).join(', ')
    const { Package: name, Architecture: architecture, Version: version } = fields
    packages.set(name, { name, architecture, version, depends })
    for (const provided of namesIn(fields.Provides ?? '', /,/)) {
      providers.set(provided, [...(providers.get(provided) ?? []), name])
    }
  }
  return { packages, providers }
}

/** The wanted packages that are installed, and all that they depend on. */
export function closureOf(wanted, { packages, providers }, unwanted) {
  const found = new Map()
  const waiting = [...wanted]
  while (waiting.length > 0) {
    const name = waiting.pop()
    const known = packages.get(name)
    if (!known) waiting.push(...(providers.get(name) ?? []).filter((each) => !found.has(each)))
    if (!known || found.has(name) || unwanted.has(name)) continue
    found.set(name, known)
    for (const alternatives of known.depends.split(',')) {
      const installed = namesIn(alternatives, /\|/).find((each) => packages.has(each) || providers.has(each))
      if (installed !== undefined) waiting.push(installed)
    }
  }
  return [...found.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1))
}

/** What a package installed, as paths. */
export function filesOf({ name, architecture }) {
  const lists = [`${DPKG}/info/${name}.list`, `${DPKG}/info/${name}:${architecture}.list`]
  const list = lists.find((path) => existsSync(path))
  if (list === undefined) throw new Error(`dpkg has no list of the files of ${name}`)
  return readFileSync(list, 'utf8').split('\n').filter(Boolean)
}

/** The links that update-alternatives made: `/usr/bin/awk` to `/etc/alternatives/awk`. */
export function readAlternatives(names) {
  return names.flatMap((group) => {
    // One line of status, the first link, then pairs of name and link up to an empty line.
    const [, link, ...rest] = readFileSync(`${DPKG}/alternatives/${group}`, 'utf8').split('\n')
    const pairs = rest.slice(0, rest.indexOf(''))
    const others = pairs.flatMap((name, index) => (index % 2 === 0 ? { name, link: pairs[index + 1] } : []))
    return [{ name: group, link }, ...others]
  })
}

function namesIn(list, separator) {
  return list.split(separator).flatMap((entry) => /^\s*([^\s(:]+)/.exec(entry)?.[1] ?? [])
}
