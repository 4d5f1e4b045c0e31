// The managed policies of Chromium, in the directory where it looks for them when it starts: those of the session, and
// what the agent itself needs. It also notices when they change, some of them at once and some after long seconds,
// which nobody should wait for.
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const FILE = 'berth.json'

export type Policy = Readonly<Record<string, unknown>>

export class Policies {
  readonly #directory: string
  #ofSession: Policy = {}
  /** By the id of the extension, where its update manifest is. */
  readonly #installed = new Map<string, string>()

  constructor(directory: string) {
    this.#directory = join(directory, 'managed')
  }

  /** Whether Chromium is to install extensions by itself. */
  get hasInstalled(): boolean {
    return this.#installed.size > 0
  }

  set(policy: Policy): void {
    this.#ofSession = policy
    this.#write()
  }

  /** Extensions that are installed as by an administrator, by id and the address of their update manifest. */
  install(id: string, updateUrl: string): void {
    this.#installed.set(id, updateUrl)
    this.#write()
  }

  remove(id: string): void {
    this.#installed.delete(id)
    this.#write()
  }

  #write(): void {
    const list = [...this.#installed].map(([id, url]) => `${id};${url}`)
    const policy = { ...this.#ofSession, ...(list.length > 0 && { ExtensionInstallForcelist: list }) }
    mkdirSync(this.#directory, { recursive: true })
    const unfinished = join(this.#directory, '..', `.${FILE}`)
    writeFileSync(unfinished, JSON.stringify(policy))
    renameSync(unfinished, join(this.#directory, FILE))
  }
}
