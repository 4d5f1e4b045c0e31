// What this machine says about names: /etc/hosts, and the servers and search list of /etc/resolv.conf. The C library
// reads the same files, but only on threads that everything in the server shares.
import { readFileSync, statSync } from 'node:fs'
import { isIP } from 'node:net'
import { hostname } from 'node:os'

/** As often as the files are looked at. Reading them again would be wasteful; they change once in months. */
const REMEMBER_MS = 1_000
const MAX_FILE_BYTES = 4 * 1024 * 1024
/** The limits of the C library. */
const MAX_SEARCH_DOMAINS = 6
const MAX_NAME_LENGTH = 253
const MAX_NDOTS = 15

export interface SystemNamesOptions {
  /** BERTH_DNS_SERVERS: used instead of those in resolv.conf. */
  readonly servers?: readonly string[]
  readonly hostsFile?: string
  readonly resolvFile?: string
}

interface SearchRules {
  readonly domains: readonly string[]
  /** A name with as many dots is asked for as it is before the search list is tried. */
  readonly ndots: number
}

export class SystemNames {
  /** Empty: those of resolv.conf. */
  readonly servers: readonly string[]
  readonly #hosts: RememberedFile<ReadonlyMap<string, readonly string[]>>
  readonly #search: RememberedFile<SearchRules>

  constructor(options: SystemNamesOptions = {}) {
    const { servers = [], hostsFile = '/etc/hosts', resolvFile = '/etc/resolv.conf' } = options
    this.servers = servers
    this.#hosts = new RememberedFile(hostsFile, readHosts)
    this.#search = new RememberedFile(resolvFile, readSearchRules)
  }

  /** Changes when resolv.conf does: whoever has its servers must read them again. */
  get revision(): string {
    return this.#search.revision
  }

  /** The addresses of a name in the hosts file; undefined if it is not there. */
  inHostsFile(name: string): readonly string[] | undefined {
    return this.#hosts.content.get(name)
  }

  /** The names to ask for, one after another, until one exists. */
  candidatesFor(name: string): readonly string[] {
    const { domains, ndots } = this.#search.content
    const searched = domains
      .map((domain) => `${name}.${domain}`)
      .filter((candidate) => candidate.length <= MAX_NAME_LENGTH)
    const dots = name.split('.').length - 1
    return dots >= ndots ? [name, ...searched] : [...searched, name]
  }
}

/** Reads a file again when it has changed. A file that is not there reads as an empty one. */
class RememberedFile<T> {
  readonly #path: string
  readonly #parse: (text: string) => T
  #lookedAt = Number.NEGATIVE_INFINITY
  #revision = 'unread'
  #content: T

  constructor(path: string, parse: (text: string) => T) {
    this.#path = path
    this.#parse = parse
    this.#content = parse('')
  }

  get content(): T {
    this.#refresh()
    return this.#content
  }

  get revision(): string {
    this.#refresh()
    return this.#revision
  }

  // Synchronous: a stat takes microseconds, and an asynchronous one would need the shared threads.
  #refresh(): void {
    if (performance.now() - this.#lookedAt < REMEMBER_MS) return
    this.#lookedAt = performance.now()
    const info = statSync(this.#path, { throwIfNoEntry: false })
    const revision = info ? `${info.ino}:${info.mtimeMs}:${info.size}` : 'none'
    if (revision === this.#revision) return
    this.#revision = revision
    this.#content = this.#parse(info && info.size <= MAX_FILE_BYTES ? readFileSync(this.#path, 'utf8') : '')
  }
}

function readHosts(text: string): ReadonlyMap<string, readonly string[]> {
  const hosts = new Map<string, string[]>()
  for (const [address = '', ...names] of wordsOf(text, /#.*/)) {
    if (isIP(address) === 0) continue
    for (const name of names) {
      const key = name.toLowerCase().replace(/\.$/, '')
      const known = hosts.get(key)
      if (known) known.push(address)
      else hosts.set(key, [address])
    }
  }
  return hosts
}

function readSearchRules(text: string): SearchRules {
  let domains = domainOfThisHost()
  let ndots = 1
  for (const [keyword, ...values] of wordsOf(text, /[#;].*/)) {
    // The last one counts, as for the C library.
    if (keyword === 'search') domains = values
    else if (keyword === 'domain') domains = values.slice(0, 1)
    else if (keyword === 'options') {
      const given = values.map((value) => /^ndots:(\d{1,3})$/.exec(value)?.[1]).findLast(Boolean)
      if (given !== undefined) ndots = Math.min(Number(given), MAX_NDOTS)
    }
  }
  const usable = domains.map((domain) => domain.toLowerCase().replace(/\.$/, '')).filter(Boolean)
  return { domains: usable.slice(0, MAX_SEARCH_DOMAINS), ndots }
}

function domainOfThisHost(): string[] {
  const domain = /^[^.]+\.(.+)$/.exec(hostname())?.[1]
  return domain === undefined ? [] : [domain]
}

function wordsOf(text: string, comment: RegExp): string[][] {
  return text.split('\n').map((line) => line.replace(comment, '').trim().split(/\s+/))
}
