// The extensions of the session. Each is an unpacked directory. Chromium forgets them when it ends, so they are loaded
// again at each start.
import { mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { SerialQueue } from '@berth/kit/serial-queue'
import type { CdpConnection } from '../../cdp/cdp-connection.ts'
import type { Chromium } from '../../chromium/chromium.ts'
import { log } from '../../log/log.ts'
import { toBytePath } from '../files/disk/byte-paths.ts'
import { temporaryName } from '../files/disk/paths.ts'
import { removeTree } from '../files/disk/tree.ts'
import { ControlError, type ControlCall } from '../calls/operation.ts'
import { readExtensionsForm, type GivenExtension } from './form.ts'
import { loadUnpacked, uninstall } from './load.ts'
import { nameInPolicy, removeFromPolicy, whenInstalled } from './policy-install.ts'
import { unpackExtension, type Unpacked } from './unpack.ts'

export interface ExtensionsOptions {
  /** Contains a directory for each extension, named like it. */
  readonly directory: string
  /** Chromium's user-data directory. */
  readonly profile: string
  readonly chromium: Chromium
}

interface Ready extends Unpacked {
  readonly name: string
  /** Temporary directory with the unpacked extension. */
  readonly from: string
}

interface Loaded {
  readonly name: string
  readonly id: string
  readonly path: string
  readonly isByPolicy: boolean
}

export class Extensions {
  readonly #options: ExtensionsOptions
  readonly #loaded = new Map<string, Loaded>()
  /** Requests run one after another, because two may contain the same name. */
  readonly #loads = new SerialQueue()

  constructor(options: ExtensionsOptions) {
    this.#options = options
  }

  /** Loads all extensions of the request, or none. */
  async load(call: ControlCall): Promise<void> {
    using form = await readExtensionsForm(call)
    await this.#loads.run(() => this.#loadAll(form.extensions, call.signal))
  }

  /** For a Chromium that has just started. If one extension fails, the others are still loaded. */
  async loadAgain(cdp: CdpConnection): Promise<void> {
    for (const { name, path, isByPolicy } of this.#loaded.values()) {
      // Chromium installs these itself, from its policy.
      if (isByPolicy) continue
      await loadUnpacked(cdp, path).catch((error: unknown) =>
        log(`Cannot load extension ${name} again`, error),
      )
    }
  }

  async #loadAll(given: readonly GivenExtension[], signal: AbortSignal): Promise<void> {
    const { directory, chromium } = this.#options
    await mkdir(directory, { recursive: true })
    await using unpacked = new AsyncDisposableStack()
    const ready: Ready[] = []
    for (const { name, archive } of given) {
      const from = join(directory, temporaryName())
      unpacked.defer(() => remove(from))
      ready.push({ name, from, ...(await unpackExtension(archive, { name, into: from, signal })) })
    }
    const done: Loaded[] = []
    try {
      for (const one of ready) done.push(await this.#place(one, signal))
      // Chromium installs the extensions of its policy when it starts.
      if (done.some(({ isByPolicy }) => isByPolicy)) await chromium.restart()
      using cdp = await chromium.openCdp()
      for (const loaded of done) await this.#take(cdp, loaded, signal)
    } catch (error) {
      await this.#undo(done)
      throw error
    }
  }

  async #place({ name, from, root, needsPolicy }: Ready, signal: AbortSignal): Promise<Loaded> {
    const { directory, chromium } = this.#options
    const { policies } = chromium
    const before = this.#loaded.get(name)
    // If Chromium restarts meanwhile, it must not load the incomplete extension.
    this.#loaded.delete(name)
    if (before?.isByPolicy) removeFromPolicy(before.id, { path: before.path, policies })
    const path = join(directory, name)
    await remove(path)
    await rename(join(from, root), path)
    const id = needsPolicy ? await nameInPolicy({ name, path, policies, signal }) : ''
    return { name, id, path, isByPolicy: needsPolicy }
  }

  async #take(cdp: CdpConnection, loaded: Loaded, signal: AbortSignal): Promise<void> {
    const { name, path, isByPolicy } = loaded
    const { profile } = this.#options
    try {
      if (isByPolicy) await whenInstalled(cdp, loaded.id, { profile, signal })
      const id = isByPolicy ? loaded.id : await loadUnpacked(cdp, path)
      this.#loaded.set(name, { ...loaded, id })
    } catch (error) {
      if (signal.aborted) throw error
      throw new ControlError('bad_request', `Cannot load extension "${name}": ${(error as Error).message}`, {
        cause: error,
      })
    }
  }

  /** Best effort, because some extensions may be only partly loaded. */
  async #undo(placed: readonly Loaded[]): Promise<void> {
    const { chromium } = this.#options
    for (const { name, id: policyId, path, isByPolicy } of placed) {
      const id = this.#loaded.get(name)?.id ?? policyId
      this.#loaded.delete(name)
      if (isByPolicy) removeFromPolicy(id, { path, policies: chromium.policies })
      else if (id !== '') await this.#uninstall(id)
      await remove(path)
    }
  }

  async #uninstall(id: string): Promise<void> {
    try {
      using cdp = await this.#options.chromium.openCdp()
      await uninstall(cdp, id)
    } catch (error) {
      log(`Cannot uninstall extension ${id}`, error)
    }
  }
}

async function remove(path: string): Promise<void> {
  await removeTree(toBytePath(path)).catch(() => {})
}
