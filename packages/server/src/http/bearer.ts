import type { IncomingMessage } from 'node:http'
import { AppError } from '../platform/errors/app-error.ts'

const MAX_KEY_LENGTH = 512

/** Returns the key of the Authorization header. Throws unless there is exactly one bearer token. */
export function bearerToken(request: IncomingMessage): string {
  const value = request.headers.authorization
  if (value === undefined) throw unauthorized('the Authorization header is missing')
  // Node keeps only the first of two headers; a proxy may have checked the other one.
  const count = request.rawHeaders.filter(
    (name, index) => index % 2 === 0 && name.length === 13 && name.toLowerCase() === 'authorization',
  ).length
  if (count > 1) throw unauthorized('there is more than one Authorization header')
  const scheme = value.slice(0, 7).toLowerCase()
  const token = value.slice(7)
  if (scheme !== 'bearer ' || token === '' || token.length > MAX_KEY_LENGTH) {
    throw unauthorized('the Authorization header is not "Bearer <API key>"')
  }
  return token
}

export function unauthorized(reason: string): AppError {
  return new AppError('unauthorized', `Cannot authenticate: ${reason}`)
}
