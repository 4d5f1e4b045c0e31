// The master keys: the first encrypts new records, all of them decrypt old ones. They are in a file in
// the data directory or in BERTH_MASTER_KEY, never in the database.
import { createHash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeFileDurably } from '../files/durable-file.ts'

export interface MasterKey {
  readonly kid: string
  readonly secret: Buffer
}

export const KID_BYTES = 8

export class Keyring {
  readonly #path: string | undefined
  #keys: readonly MasterKey[]

  private constructor(keys: readonly MasterKey[], path: string | undefined) {
    this.#keys = keys
    this.#path = path
  }

  static async open(options: { dataDir: string; fromSetting: readonly Buffer[] }): Promise<Keyring> {
    if (options.fromSetting.length > 0) return new Keyring(options.fromSetting.map(toMasterKey), undefined)
    const path = join(options.dataDir, 'master-keys')
    const keys = readKeys(path)
    if (keys.length > 0) return new Keyring(keys, path)
    const ring = new Keyring([], path)
    await ring.add()
    return ring
  }

  get isFile(): boolean {
    return this.#path !== undefined
  }

  get keys(): readonly MasterKey[] {
    return this.#keys
  }

  get current(): MasterKey {
    return this.#keys[0]!
  }

  find(kid: string): MasterKey | undefined {
    const known = this.#keys.find((key) => key.kid === kid)
    if (known || !this.#path) return known
    // A rotation in another process may have added the key after we read the file.
    this.reload()
    return this.#keys.find((key) => key.kid === kid)
  }

  reload(): void {
    if (this.#path) this.#keys = readKeys(this.#path)
  }

  /** Makes a new key the current one. */
  async add(): Promise<MasterKey> {
    const key = toMasterKey(randomBytes(32))
    await this.#save([key, ...this.#keys])
    return key
  }

  async keepOnly(kid: string): Promise<void> {
    await this.#save(this.#keys.filter((key) => key.kid === kid))
  }

  async #save(keys: readonly MasterKey[]): Promise<void> {
    if (!this.#path) throw new Error('Cannot change master keys that come from BERTH_MASTER_KEY')
    const lines = keys.map((key) => key.secret.toString('base64')).join('\n')
    await writeFileDurably(this.#path, `${lines}\n`, { mode: 0o600 })
    this.#keys = keys
  }
}

function toMasterKey(secret: Buffer): MasterKey {
  const kid = createHash('sha256').update('berth-kid').update(secret).digest('hex')
  return { kid: kid.slice(0, KID_BYTES * 2), secret }
}

function readKeys(path: string): MasterKey[] {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const secret = Buffer.from(line, 'base64')
      if (secret.length !== 32) throw new Error(`Cannot read master key file "${path}": a line is not a key`)
      return toMasterKey(secret)
    })
}
