// Writes Chromium's managed policies, the session's and the agent's own, to the directory that Chromium reads when it
// starts. A running Chromium also notices changes, but some only after many seconds, so nobody should wait for that.
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const FILE = 'berth.json'

export type Policy = Readonly<Record<string, unknown>>

export class Policies {
  readonly #directory: string
  #ofSession: Policy = {}
  /** URL of the update manifest by extension id. */
  readonly #installed = new Map<string, string>()

  constructor(directory: string) {
    this.#directory = join(directory, 'managed')
  }

  /** Whether policies tell Chromium to install extensions. */
  get hasInstalled(): boolean {
    return this.#installed.size > 0
  }

  set(policy: Policy): void {
    this.#ofSession = policy
    this.#write()
  }

  /** Installs an extension as an administrator would, by its id and the URL of its update manifest. */
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
