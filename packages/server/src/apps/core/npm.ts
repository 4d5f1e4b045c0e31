// npm of this machine: apps are built with it, and their packages come from where it gets its own, unless the
// operator says otherwise.
import { realpathSync } from 'node:fs'
import { run } from '@berth/kit/child-process'
import { findProgram } from '../../instances/local/programs.ts'

export class Npm {
  /** As instances see it; undefined where the machine has none that they could see. */
  readonly program: string | undefined
  readonly #setting: URL | undefined
  readonly #environment: NodeJS.ProcessEnv
  #asked: Promise<URL | undefined> | undefined

  /** In the environment it finds the settings that the operator made for it. */
  constructor({ registry, environment }: { registry: URL | undefined; environment: NodeJS.ProcessEnv }) {
    this.program = findNpm()
    this.#setting = registry
    this.#environment = environment
  }

  /** Undefined: there is no npm. Asked for once, and again when that failed. */
  async registry(): Promise<URL | undefined> {
    if (this.#setting) return this.#setting
    this.#asked ??= this.#ask()
    try {
      return await this.#asked
    } catch (error) {
      this.#asked = undefined
      throw error
    }
  }

  async #ask(): Promise<URL | undefined> {
    if (this.program === undefined) return undefined
    const args = [this.program, 'config', 'get', 'registry']
    const said = await run({ command: process.execPath, args, env: this.#environment })
    // Warnings may come before it.
    const urls = said.split('\n').flatMap((line) => URL.parse(line.trim()) ?? [])
    const registry = urls.findLast(({ protocol }) => /^https?:$/.test(protocol))
    if (!registry) throw new Error('npm does not say which registry it uses; set BERTH_NPM_REGISTRY')
    return registry
  }
}

function findNpm(): string | undefined {
  const link = findProgram('npm')
  if (link === undefined) return undefined
  try {
    const path = realpathSync(link)
    return path.startsWith('/usr/') ? path : undefined
  } catch {
    return undefined
  }
}
