import { lstat, rename, stat, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ControlError } from '../calls/operation.ts'
import { toBytePath } from './disk/byte-paths.ts'
import { cleanPath, temporaryName } from './disk/paths.ts'
import { refuse } from './disk/refusal.ts'
import { checkNotNeeded } from './remove.ts'
import { copyTree, removeTree } from './disk/tree.ts'

export async function move(from: string, to: string, signal: AbortSignal): Promise<void> {
  const source = cleanPath(from)
  const target = cleanPath(to)
  await lstat(source).catch(refuse(source))
  await stat(dirname(target)).catch(refuse(dirname(target)))
  try {
    await rename(source, target)
  } catch (error) {
    switch ((error as NodeJS.ErrnoException).code) {
      case 'EXDEV':
        return moveAcross(source, target, signal)
      case 'EINVAL':
        throw new ControlError('bad_request', `Cannot move "${source}" into itself`)
      case 'EISDIR':
        throw new ControlError('conflict', `Cannot move to "${target}": a directory is there`)
      case 'ENOTEMPTY':
      case 'EEXIST':
        throw new ControlError('conflict', `Cannot move to "${target}": a directory is there, and not empty`)
      default:
        return refuse(source)(error)
    }
  }
}

/** Moves to another file system: copies first, then deletes the original. */
async function moveAcross(source: string, target: string, signal: AbortSignal): Promise<void> {
  await checkNotNeeded(source)
  const copy = join(dirname(target), temporaryName())
  try {
    await copyTree(toBytePath(source), toBytePath(copy), signal)
    await rename(copy, target)
  } catch (error) {
    await removeAny(copy)
    return refuse(target)(error)
  }
  await removeAny(source).catch(refuse(source))
}

async function removeAny(path: string): Promise<void> {
  const stats = await lstat(path).catch(() => undefined)
  if (!stats) return
  await (stats.isDirectory() ? removeTree(toBytePath(path)) : unlink(path))
}
