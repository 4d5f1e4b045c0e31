// The versions of Playwright in this instance. A client is served by the version whose first two numbers it has: they
// speak the same protocol, others do not.
import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Settings } from '../instance/settings.ts'
import { Program } from './program.ts'

/** The first two numbers of the version that is built in; see build.ts. */
declare const PLAYWRIGHT_VERSION: string

const OTHER = /^playwright-(\d+\.\d+)\.cjs$/

export class Programs {
  readonly #settings: Settings
  readonly #running = new Map<string, Program>()
  readonly #files: ReadonlyMap<string, string>

  constructor(settings: Settings) {
    this.#settings = settings
    this.#files = filesBeside(settings.playwrightRunner)
  }

  get versions(): string[] {
    return [...this.#files.keys()]
  }

  /** The built-in version for a client that does not say its own. Undefined if that version is not here. */
  of(version = PLAYWRIGHT_VERSION): Program | undefined {
    const file = this.#files.get(version)
    if (file === undefined) return undefined
    const running = this.#running.get(version)
    if (running && !running.isOver) return running
    const program = new Program({ file, version, settings: this.#settings })
    this.#running.set(version, program)
    return program
  }
}

function filesBeside(builtIn: string): Map<string, string> {
  const directory = dirname(builtIn)
  const files = new Map([[PLAYWRIGHT_VERSION, builtIn]])
  for (const name of readdirSync(directory)) {
    const [, version] = OTHER.exec(name) ?? []
    if (version !== undefined && !files.has(version)) files.set(version, join(directory, name))
  }
  return files
}
