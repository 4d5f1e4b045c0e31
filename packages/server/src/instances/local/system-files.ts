// The system files that instances see: those that the set-up chose from this machine's packages, or the machine's whole
// /usr where there are none. See scripts/lib/system.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isInImage } from '@berth/kit/in-image'

export const SYSTEMS = '/var/lib/berth/system'
const DPKG_STATUS = '/var/lib/dpkg/status'
/** Reading what dpkg wrote takes 20 ms, which a start should not wait for. */
const FIRST_LOOK_MS = 6_000
const DAY_MS = 86_400_000
const REMEDY = isInImage ? 'build the image again' : 'run npm run setup as root'

/** What the set-up wrote beside a system. */
interface SystemRecord {
  readonly packages: Readonly<Record<string, string>>
  /** Wanted, but not on this machine. */
  readonly absent: readonly string[]
}

export class SystemFiles {
  readonly #systems: string
  readonly #user: string

  /** `checkout`: where this server is installed. */
  constructor(checkout: string, systems = SYSTEMS) {
    this.#systems = systems
    this.#user = join(systems, '.used-by', hashOf(checkout))
  }

  /**
   * The directory that stands for the machine's root; empty: the machine's own. It is read again for each instance: the
   * set-up may have made another one.
   */
  get path(): string {
    const system = this.#read(this.#user)?.['system']
    if (typeof system !== 'string' || !/^[0-9a-f]{16}$/.test(system)) return ''
    const path = join(this.#systems, system)
    return existsSync(path) ? path : ''
  }

  /** Says what is not as it should be, soon after the start and then every day. */
  watch(log: { warn: (fields: object, message: string) => void }): void {
    if (this.path === '') log.warn({}, `Instances see this machine's whole /usr: ${REMEDY}, on Debian`)
    const look = () => {
      const warning = this.staleness()
      if (warning !== undefined) log.warn({}, warning)
    }
    setTimeout(look, FIRST_LOOK_MS).unref()
    setInterval(look, DAY_MS).unref()
  }

  /** Undefined when each package has the version that this machine has. */
  staleness(status = DPKG_STATUS): string | undefined {
    const { path } = this
    const seen = path === '' ? undefined : (this.#read(`${path}.json`) as SystemRecord | undefined)
    if (seen === undefined) return undefined
    const installed = readVersions(status)
    const absent = Object.fromEntries(seen.absent.map((name) => [name, undefined]))
    const changed = Object.entries({ ...absent, ...seen.packages }).filter(
      ([name, version]) => installed.get(name) !== version,
    )
    if (changed.length === 0) return undefined
    const [name, version] = changed.find(([each]) => each === 'chromium') ?? changed[0]!
    const others = changed.length > 1 ? `, and ${changed.length - 1} more packages` : ''
    const now = installed.get(name) ?? 'none'
    const difference =
      version === undefined ? `do not see ${name} ${now}` : `see ${name} ${version}, not ${now}`
    return `Instances ${difference}${others}, as this machine has it: ${REMEDY}`
  }

  #read(path: string): Record<string, unknown> | undefined {
    try {
      return JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>
    } catch {
      return undefined
    }
  }
}

function readVersions(status: string): Map<string, string> {
  const versions = new Map<string, string>()
  try {
    for (const block of readFileSync(status, 'utf8').split('\n\n')) {
      const [, name] = /^Package: (.*)$/m.exec(block) ?? []
      const [, version] = /^Version: (.*)$/m.exec(block) ?? []
      if (!/^Status: install ok installed$/m.test(block)) continue
      if (name !== undefined && version !== undefined) versions.set(name, version)
    }
  } catch {
    // No packages any more, so all of them have changed.
  }
  return versions
}

function hashOf(checkout: string): string {
  return createHash('sha256').update(checkout).digest('hex').slice(0, 16)
}
