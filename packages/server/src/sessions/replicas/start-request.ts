// One server asks another one to start a session: the request, and what comes back.
//
// The answer is a stream of lines that stays open. Empty lines say that the other server is still there; one line says
// that the session runs, or why it does not. The connection is the other server's proof that the asker is still there: when
// it ends, the other server looks whether the asker has made the session ready.
import { createHash } from 'node:crypto'
import { errorCatalogue, type ErrorCode } from '@berth/contracts/errors'
import { AppError, type ErrorDetail } from '../../platform/errors/app-error.ts'

export const START_PATH = '/internal/sessions'

/** Covers a clock that is a little off. The request is sent at once. */
export const START_TOKEN_SECONDS = 30
export const ALIVE_EVERY_MS = 1_000
export const MAX_LINE_BYTES = 64 * 1024

/** A token is for one server and one body. */
export function startAudience(serverId: string, digest: string): string {
  return `start:${serverId}:${digest}`
}

export function digestOf(body: Buffer): string {
  return createHash('sha256').update(body).digest('base64')
}

/** RFC 9530. */
export const toContentDigest = (digest: string) => `sha-256=:${digest}:`

export function fromContentDigest(header: unknown): string | undefined {
  return typeof header === 'string' ? /^sha-256=:([A-Za-z0-9+/]{43}=):$/.exec(header)?.[1] : undefined
}

export type StartNews = { readonly started: true } | { readonly failed: Failure }

/** An error as it passes between servers. */
interface Failure {
  readonly code: string
  readonly message: string
  readonly details?: readonly ErrorDetail[]
  readonly headers?: Readonly<Record<string, string>>
}

export function toFailure({ code, message, details, headers }: AppError): Failure {
  return { code, message, ...(details && { details }), ...(headers && { headers }) }
}

/** Undefined when a server of another version sent something else. */
export function readNews(line: Buffer): StartNews | undefined {
  let news: unknown
  try {
    news = JSON.parse(line.toString())
  } catch {
    return undefined
  }
  if (typeof news !== 'object' || news === null) return undefined
  if ('started' in news) return { started: true }
  if (!('failed' in news)) return undefined
  const { code, message } = news.failed as Failure
  // SAFETY: the other server holds our secret, and the fields that matter are checked.
  return typeof code === 'string' && typeof message === 'string'
    ? { failed: news.failed as Failure }
    : undefined
}

/** Undefined for a code that this version does not know. */
export function toError({ code, message, details, headers }: Failure): AppError | undefined {
  if (!Object.hasOwn(errorCatalogue, code)) return undefined
  return new AppError(code as ErrorCode, message, {
    ...(details && { details }),
    ...(headers && { headers: { ...headers } }),
  })
}
