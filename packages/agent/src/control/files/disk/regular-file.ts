import { constants, type Stats } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { ControlError } from '../../calls/operation.ts'
import { refuse } from './refusal.ts'

/** Never blocks, for example on a pipe, and never acquires a controlling terminal. */
const SAFELY = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY
const READ_BYTES = 256 * 1024
/** Limit for files that report no size, such as those in /proc. */
const MAX_UNSIZED_BYTES = 64 * 1024 * 1024

export interface OpenFile {
  readonly handle: FileHandle
  readonly stats: Stats
}

/** Opens a regular file; refuses devices, pipes and directories. */
export async function openRegular(
  path: string,
  { bytes = path, followsLinks = true }: { bytes?: string | Buffer; followsLinks?: boolean } = {},
): Promise<OpenFile> {
  const flags = followsLinks ? SAFELY : SAFELY | constants.O_NOFOLLOW
  const handle = await open(bytes, flags).catch((error: NodeJS.ErrnoException) =>
    // For example a socket.
    error.code === 'ENXIO' ? refuseKind(path) : refuse(path)(error),
  )
  try {
    const stats = await handle.stat()
    if (!stats.isFile()) refuseKind(path, stats)
    return { handle, stats }
  } catch (error) {
    await handle.close()
    throw error
  }
}

export function refuseKind(path: string, stats?: Stats): never {
  const what = stats?.isDirectory() ? 'a directory' : 'a device, pipe or socket'
  throw new ControlError('bad_request', `Cannot use "${path}": it is ${what}, not a file`)
}

/** Reads the file up to its current size; later additions are left out. */
export async function readWhole(path: string): Promise<{ bytes: Readable; length?: number }> {
  const { handle, stats } = await openRegular(path)
  const most = stats.size || MAX_UNSIZED_BYTES
  const bytes = handle.createReadStream({ end: most - 1, highWaterMark: READ_BYTES })
  return stats.size > 0 ? { bytes, length: stats.size } : { bytes }
}
