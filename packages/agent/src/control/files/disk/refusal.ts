import { ControlError } from '../../calls/operation.ts'

/** Turns a file system error into an API error. */
export function refusalOf(path: string, error: unknown): unknown {
  if (!isSystemError(error)) return error
  const refusal = (code: ControlError['code'], reason: string) =>
    new ControlError(code, `Cannot use "${path}": ${reason}`, { cause: error })
  switch (error.code) {
    case 'ENOENT':
      return new ControlError('not_found', `Cannot find "${path}"`, { cause: error })
    case 'ENOTDIR':
      return refusal('conflict', 'a file is where a directory should be')
    case 'EEXIST':
      return refusal('conflict', 'something is there already')
    case 'ENOTEMPTY':
      return refusal('conflict', 'the directory is not empty')
    case 'EBUSY':
      return refusal('conflict', 'it is in use by the instance itself')
    case 'EISDIR':
      return refusal('bad_request', 'it is a directory')
    case 'ELOOP':
      return refusal('bad_request', 'its links lead in a circle')
    case 'ENAMETOOLONG':
      return refusal('bad_request', 'the path is too long')
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return refusal('bad_request', 'it may not be read or changed')
    case 'ENOSPC':
    case 'EDQUOT':
    case 'EFBIG':
      return noRoom(path, error)
    // The agent's limit, not the file's.
    case 'EMFILE':
    case 'ENFILE':
    case 'ENOMEM':
      return error
    default:
      return refusal('bad_request', error.code)
  }
}

export function noRoom(path: string, cause?: unknown): ControlError {
  return new ControlError(
    'insufficient_storage',
    `Cannot write "${path}": the disk of the instance is full; delete files, or see BERTH_SESSION_DISK_MB`,
    { cause },
  )
}

/** For `.catch()`. */
export function refuse(path: string): (error: unknown) => never {
  return (error) => {
    throw refusalOf(path, error)
  }
}

export function isMissing(error: unknown): boolean {
  return isSystemError(error) && error.code === 'ENOENT'
}

function isSystemError(error: unknown): error is Error & { code: string } {
  return error instanceof Error && 'syscall' in error && 'code' in error && typeof error.code === 'string'
}
