// The only place that turns an error into an answer.
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { errorCatalogue, type ErrorBody, type ErrorCode } from '@berth/contracts/errors'
import { BadInput } from '@berth/kit/bad-input'
import { databaseFailure } from '../platform/database/failures.ts'
import { AppError } from '../platform/errors/app-error.ts'
import { ignoredHeader } from './ignored-fields.ts'

const RETRY_AFTER_SECONDS = '1'
/** Framework messages may quote the input, so they are cut. */
const MAX_QUOTE_LENGTH = 200
/** How much of a too large body is read and dropped before the connection is cut. */
const MAX_DROPPED_BYTES = 64 * 1024 * 1024
const MAX_DROPPING_MS = 5_000

const frameworkCodes: Record<string, ErrorCode> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_BODY_TOO_LARGE: 'payload_too_large',
}

export function toAppError(error: unknown): AppError | undefined {
  if (error instanceof AppError) return error
  if (error instanceof BadInput) return new AppError(error.code, error.message)
  switch (databaseFailure(error)) {
    case 'unavailable':
      return new AppError('unavailable', 'Cannot reach the database; try again', { cause: error })
    case 'disk-full':
      return new AppError('insufficient_storage', 'Cannot store this: the disk is full', { cause: error })
    case 'unique-violation':
      return new AppError('conflict', 'Cannot store this: it collides with another change', { cause: error })
    case undefined:
      return fromFramework(error as FastifyError)
  }
}

function fromFramework(error: FastifyError): AppError | undefined {
  const code = frameworkCodes[error.code]
  if (code === 'unsupported_media_type') {
    return new AppError(code, 'Cannot read the body: send it as Content-Type "application/json"')
  }
  if (code) return new AppError(code, error.message)
  const isClientFault = typeof error.statusCode === 'number' && error.statusCode < 500
  return isClientFault
    ? new AppError('bad_request', `Cannot read the request: ${error.message.slice(0, MAX_QUOTE_LENGTH)}`)
    : undefined
}

export function toErrorBody(error: AppError): ErrorBody {
  return {
    code: error.code,
    message: error.message,
    ...(error.details && { details: [...error.details] }),
    ...error.fields,
  }
}

export function errorHeaders(error: AppError): Record<string, string> {
  const headers: Record<string, string> = error.headers ? { ...error.headers } : {}
  if (errorCatalogue[error.code].final) headers['x-should-retry'] = 'false'
  if (error.code === 'unavailable') headers['retry-after'] = RETRY_AFTER_SECONDS
  if (error.code === 'unauthorized') headers['www-authenticate'] = 'Bearer'
  return headers
}

export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const known = toAppError(error)
  // The client left and stopped its own work. That is not a fault, and nobody reads the answer.
  const isAbandoned = reply.raw.destroyed && !reply.raw.writableFinished
  if (isAbandoned) request.log.debug({ err: error, requestId: request.id }, 'request abandoned')
  else if (!known) request.log.error({ err: error, requestId: request.id }, 'request failed')
  else if (known.status >= 500) request.log.warn({ err: known, requestId: request.id }, 'request failed')
  const answer =
    known ??
    new AppError(
      'internal_error',
      `Cannot complete the request: an internal error, logged as request ${request.id}`,
    )
  if (answer.status === 413) dropTheRest(request, reply)
  void reply
    .code(answer.status)
    .headers({ 'x-request-id': request.id, ...ignoredHeader(request.body), ...errorHeaders(answer) })
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(toErrorBody(answer)))
}

/** Closing a connection while the client sends resets it, and the client loses the answer. */
function dropTheRest({ raw, headers }: FastifyRequest, reply: FastifyReply): void {
  const isShort = Number(headers['content-length']) <= MAX_DROPPED_BYTES
  if (!isShort || raw.complete) return
  // The framework sets it. Without it, Node reads the body to its end and keeps the connection.
  reply.removeHeader('connection')
  const timer = setTimeout(() => raw.socket.destroy(), MAX_DROPPING_MS)
  raw.once('close', () => clearTimeout(timer))
}
