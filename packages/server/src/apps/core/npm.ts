// This machine's npm. It builds apps, and they use its registry unless the operator sets another.
import { realpathSync } from 'node:fs'
import { run } from '@berth/kit/child-process'
import { findProgram } from '../../instances/local/programs.ts'

export class Npm {
  /** The path inside instances; undefined when the machine has no npm that instances can see. */
  readonly program: string | undefined
  readonly #setting: URL | undefined
  readonly #environment: NodeJS.ProcessEnv
  #asked: Promise<URL | undefined> | undefined

  /** The environment contains the operator's npm settings. */
  constructor({ registry, environment }: { registry: URL | undefined; environment: NodeJS.ProcessEnv }) {
    this.program = findNpm()
    this.#setting = registry
    this.#environment = environment
  }

  /** Undefined without npm. The result is cached; a failure is not. */
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
    const output = await run({ command: process.execPath, args, env: this.#environment })
    // npm may print warnings first.
    const urls = output.split('\n').flatMap((line) => URL.parse(line.trim()) ?? [])
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
