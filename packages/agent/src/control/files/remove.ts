import { lstat, realpath, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { ControlError } from '../calls/operation.ts'
import { toBytePath } from './disk/byte-paths.ts'
import { cleanPath, mountsIn } from './disk/paths.ts'
import { isMissing, refuse } from './disk/refusal.ts'
import { removeTree } from './disk/tree.ts'

export async function deleteFile(text: string): Promise<void> {
  const path = cleanPath(text)
  const stats = await lstat(path).catch(refuse(path))
  if (stats.isDirectory()) {
    throw new ControlError('bad_request', `Cannot delete "${path}": it is a directory; use delete_directory`)
  }
  await unlink(path).catch(refuse(path))
}

/** A missing directory counts as deleted. */
export async function deleteDirectory(text: string, signal: AbortSignal): Promise<void> {
  const path = cleanPath(text)
  const stats = await lstat(path).catch((error: unknown) =>
    isMissing(error) ? undefined : refuse(path)(error),
  )
  if (!stats) return
  if (!stats.isDirectory()) {
    const what = stats.isSymbolicLink() ? 'a link' : 'a file'
    throw new ControlError('bad_request', `Cannot delete "${path}": it is ${what}; use delete_file`)
  }
  await checkNotNeeded(path)
  await removeTree(toBytePath(path), signal).catch(refuse(path))
}

/** Refuses mount points, because emptying one would break the instance. */
export async function checkNotNeeded(path: string): Promise<void> {
  const real = path === '/' ? path : join(await realpath(dirname(path)), basename(path))
  const [mount] = await mountsIn(real)
  if (mount === undefined) return
  throw new ControlError(
    'conflict',
    `Cannot move or delete "${path}": "${mount}" is a part of the instance; name what is in it instead`,
  )
}
