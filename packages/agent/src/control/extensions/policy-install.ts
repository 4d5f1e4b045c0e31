// Some extensions work only if an administrator installs them (see needsPolicyInstall). They are packed as a crx next to
// their directory and listed in the policy. Chromium fetches them from there by a file URL when it starts.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { MANIFEST, readManifest } from '@berth/contracts/extension-manifest'
import { pause } from '@berth/kit/pause'
import type { CdpConnection } from '../../cdp/cdp-connection.ts'
import type { Policies } from '../../chromium/policies.ts'
import { pack } from '../files/zip/pack.ts'
import { crxOf } from '@berth/codecs/crx/write'
import { pathExists } from '../../user/path-exists.ts'

const INSTALL_MS = 20_000
const LOOK_AGAIN_MS = 50

export interface PolicyInstall {
  readonly name: string
  /** Path of its directory. */
  readonly path: string
  readonly policies: Policies
  readonly signal: AbortSignal
}

/** Resolves with the id that it has after the next start of Chromium. */
export async function nameInPolicy({ name, path, policies, signal }: PolicyInstall): Promise<string> {
  const manifest = readManifest(await readFile(join(path, MANIFEST), 'utf8'))
  // The id comes from our own key, because we do not have the publisher's private key.
  const { key: _key, ...fields } = manifest.fields
  writeFileSync(join(path, MANIFEST), JSON.stringify(fields, null, 2))
  const archive = Buffer.concat(await Array.fromAsync(pack(path, signal)))
  const { crx, id } = crxOf(archive, name)
  const directory = directoryOf(path)
  mkdirSync(directory, { recursive: true })
  const file = join(directory, 'extension.crx')
  const updates = join(directory, 'update.xml')
  writeFileSync(file, crx)
  writeFileSync(
    updates,
    updateManifest({ id, codebase: pathToFileURL(file).href, version: manifest.version }),
  )
  policies.install(id, pathToFileURL(updates).href)
  return id
}

export function removeFromPolicy(
  id: string,
  { path, policies }: Pick<PolicyInstall, 'path' | 'policies'>,
): void {
  policies.remove(id)
  rmSync(directoryOf(path), { recursive: true, force: true })
}

/** Rejects if Chromium does not install it in time. */
export async function whenInstalled(
  cdp: CdpConnection,
  id: string,
  { profile, signal }: { profile: string; signal: AbortSignal },
): Promise<void> {
  const deadline = performance.now() + INSTALL_MS
  const isUnpacked = () => pathExists(join(profile, 'Default', 'Extensions', id))
  while (!isUnpacked() || !(await isThere(cdp, id))) {
    signal.throwIfAborted()
    if (performance.now() > deadline) {
      throw new Error(`Chromium has not installed it after ${INSTALL_MS / 1000} s`)
    }
    await pause(LOOK_AGAIN_MS)
  }
}

/**
 * Chromium lists only the extensions that it loaded unpacked. But it does not allow attaching to a page of an extension
 * that an administrator installed, and allows it for the error page that is shown if the extension is missing.
 */
async function isThere(cdp: CdpConnection, id: string): Promise<boolean> {
  const url = `chrome-extension://${id}/${MANIFEST}`
  const { targetId } = await cdp.call<{ targetId: string }>('Target.createTarget', {
    url,
    hidden: true,
    background: true,
  })
  try {
    await cdp.call('Target.attachToTarget', { targetId, flatten: true })
    return false
  } catch (error) {
    if (/Not allowed/i.test((error as Error).message)) return true
    throw error
  } finally {
    await cdp.call('Target.closeTarget', { targetId }).catch(() => {})
  }
}

/** Next to its own directory; no extension can have this name. */
function directoryOf(path: string): string {
  return `${path}+installed`
}

function updateManifest({
  id,
  codebase,
  version,
}: {
  id: string
  codebase: string
  version: string
}): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<gupdate xmlns="http://www.google.com/update2/response" protocol="2.0">
  <app appid="${id}"><updatecheck codebase="${codebase}" version="${version}"/></app>
</gupdate>
`
}
