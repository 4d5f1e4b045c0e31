// The answer to a create for which there is no room.
import { AppError } from '../../platform/errors/app-error.ts'

const RETRY_AFTER_SECONDS = '5'

export function full(why: string, cause: unknown): AppError {
  return new AppError('capacity_exhausted', `Cannot create a session: ${why}`, {
    cause,
    headers: { 'retry-after': RETRY_AFTER_SECONDS },
  })
}

export function cannotWake(cause: Error): AppError {
  return new AppError(
    'unavailable',
    `Cannot wake the session: ${cause.message}; try again, or end another session`,
    { cause, headers: { 'retry-after': RETRY_AFTER_SECONDS } },
  )
}

export function isFull(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'capacity_exhausted'
}

/** `refusals` are the reasons of the other servers that were asked. */
export function fullEverywhere(here: AppError, refusals: readonly string[]): AppError {
  if (refusals.length === 0) return here
  const [why] = refusals
  const others =
    refusals.length === 1
      ? 'another server was asked and could not take it either'
      : `${refusals.length} other servers were asked and could not take it either, the first`
  return new AppError('capacity_exhausted', `${here.message}; ${others}: ${why}`, {
    cause: here,
    headers: { 'retry-after': RETRY_AFTER_SECONDS },
  })
}
