import { realpath, stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { ControlError } from '../calls/operation.ts'
import { cleanPath } from './disk/paths.ts'
import { refuse } from './disk/refusal.ts'
import { countEntries, pack } from './zip/pack.ts'

/** Limits the archive's own directory to some tens of megabytes. */
const MAX_ENTRIES = 200_000

export async function downloadZip(text: string, signal: AbortSignal): Promise<{ bytes: Readable }> {
  const path = cleanPath(text)
  const stats = await stat(path).catch(refuse(path))
  if (!stats.isDirectory()) {
    throw new ControlError('bad_request', `Cannot pack "${path}": it is not a directory; use read_file`)
  }
  const root = await realpath(path)
  const count = await countEntries(root, MAX_ENTRIES).catch(refuse(path))
  if (count > MAX_ENTRIES) {
    throw new ControlError('bad_request', `Cannot pack "${path}": it has more than ${MAX_ENTRIES} entries`)
  }
  return { bytes: Readable.from(pack(root, signal), { objectMode: false }) }
}
