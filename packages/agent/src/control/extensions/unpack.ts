// Unpacks extensions. Some archives were checked when the server stored them, others come directly from a caller. Here
// all are checked alike.
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { MAX_UNPACKED_BYTES } from '@berth/contracts/extension-limits'
import {
  MANIFEST,
  MAX_MANIFEST_BYTES,
  needsPolicyInstall,
  readManifest,
  rootOf,
} from '@berth/contracts/extension-manifest'
import { BadInput } from '@berth/kit/bad-input'
import { readAt, readDirectory } from '@berth/codecs/zip/directory'
import { ControlError } from '../calls/operation.ts'
import { refusalOf } from '../files/disk/refusal.ts'
import { openRegular } from '../files/disk/regular-file.ts'
import { checkRoom } from '../files/disk/staged-file.ts'
import { unpack } from '../files/zip/unpack.ts'

export interface Unpacked {
  /** Directory of the extension in the archive; empty for the top. */
  readonly root: string
  readonly needsPolicy: boolean
}

export async function unpackExtension(
  path: string,
  { name, into, signal }: { name: string; into: string; signal: AbortSignal },
): Promise<Unpacked> {
  const refused = (reason: string) =>
    new ControlError('bad_request', `Cannot load extension "${name}": ${reason}`)
  const { handle, stats } = await openRegular(path)
  try {
    const magic = stats.size < 4 ? '' : (await readAt(handle, 0, 4)).toString('latin1')
    if (magic === 'Cr24') throw refused('it is a crx; upload it to /extensions, or send a zip archive')
    const { entries } = await readDirectory(handle, stats.size)
    const root = rootOf(entries.map((entry) => entry.name))
    const manifest = entries.find((entry) => entry.name === `${root}${MANIFEST}`)
    if (root === undefined || !manifest) {
      throw refused(`its archive has no ${MANIFEST}, neither at its top nor in its one directory`)
    }
    if (manifest.bytes > MAX_MANIFEST_BYTES) throw refused('its manifest is too large')
    if (entries.reduce((sum, { bytes }) => sum + bytes, 0) > MAX_UNPACKED_BYTES) {
      throw refused(`it would be larger than ${MAX_UNPACKED_BYTES / 1024 / 1024} MiB when unpacked`)
    }
    await mkdir(into, { mode: 0o755 })
    await unpack({
      archive: handle,
      size: stats.size,
      into,
      checkRoom: (bytes) => checkRoom(join(into, '..'), bytes, { for: name }),
      signal,
    })
    const text = await readFile(join(into, root, MANIFEST), 'utf8')
    try {
      return { root, needsPolicy: needsPolicyInstall(readManifest(text)) }
    } catch (error) {
      throw refused((error as Error).message)
    }
  } catch (error) {
    if (error instanceof BadInput) throw refused(error.message)
    throw refusalOf(name, error)
  } finally {
    await handle.close()
  }
}
