// Errors that are shown to a person: what failed, why, and what to do.
import { exitCodeOfStatus, exitCodes } from './exit-codes.ts'

export interface FailureOptions {
  readonly exitCode?: number
  /** What to do about it. */
  readonly remedy?: string
  readonly cause?: unknown
}

export class Failure extends Error {
  readonly exitCode: number
  readonly remedy: string | undefined

  constructor(message: string, { exitCode = exitCodes.failed, remedy, cause }: FailureOptions = {}) {
    super(message, { cause })
    this.exitCode = exitCode
    this.remedy = remedy
  }
}

/** The command line is wrong. */
export function usage(message: string, remedy?: string): Failure {
  return new Failure(message, { exitCode: exitCodes.usage, ...(remedy !== undefined && { remedy }) })
}

/** A program that ran for us, such as the shell of a session, ended with this code; nothing more is said. */
export class ExitWith extends Error {
  readonly exitCode: number

  constructor(exitCode: number) {
    super(`exit code ${exitCode}`)
    this.exitCode = exitCode
  }
}

export class Interrupted extends Error {}

export interface Shown {
  readonly text: string
  readonly exitCode: number
}

interface ErrorDetail {
  readonly message?: string
}

interface AnswerError {
  readonly status?: number
  readonly headers?: Headers
  readonly error?: {
    readonly code?: string
    readonly message?: string
    readonly details?: readonly ErrorDetail[]
    readonly inner_error?: { readonly message?: string }
  }
}

/** What stderr shows about an error, and the exit code. */
export function describe(error: unknown, { baseUrl }: { baseUrl?: string | undefined } = {}): Shown {
  if (error instanceof Failure)
    return { text: withRemedy(error.message, error.remedy), exitCode: error.exitCode }
  if (isAnswer(error)) return describeAnswer(error)
  const { message, cause } = error as Error & { cause?: unknown }
  if (isConnection(error)) {
    const why = reasonOf(cause) ?? message
    return {
      text: withRemedy(
        `Cannot reach the server${baseUrl === undefined ? '' : ` at ${baseUrl}`}: ${why}`,
        'Start one with "berth up", or choose another with "berth context use NAME" or KERNEL_BASE_URL',
      ),
      exitCode: exitCodes.unreachable,
    }
  }
  return { text: message, exitCode: exitCodes.failed }
}

/** Errors of the client have the status and the body of the answer. */
function isAnswer(error: unknown): error is AnswerError {
  return typeof (error as AnswerError).status === 'number'
}

function describeAnswer({ status = 0, headers, error }: AnswerError): Shown {
  const {
    code = 'error',
    message = `The server answered ${status}`,
    details = [],
    inner_error: inner,
  } = error ?? {}
  const lines = [`${code}: ${message}`]
  for (const detail of details)
    if (detail.message && !message.includes(detail.message)) lines.push(`  ${detail.message}`)
  if (inner?.message && !message.includes(inner.message)) lines.push(`  ${inner.message}`)
  const remedy = remedyOf(code, status, headers)
  if (remedy !== undefined) lines.push(remedy)
  const requestId = headers?.get('x-request-id')
  if (requestId) lines.push(`Request id: ${requestId}`)
  return { text: lines.join('\n'), exitCode: exitCodeOfStatus(status) }
}

/** Beyond what the message says. */
function remedyOf(code: string, status: number, headers: Headers | undefined): string | undefined {
  if (status === 401) return 'Log in with "berth login", or set KERNEL_API_KEY'
  if (code === 'project_not_found')
    return 'List them with "berth projects list", and choose one with --project'
  const seconds = headers?.get('retry-after')
  if (seconds && status !== 202) return `Try again in ${seconds} seconds`
  return undefined
}

/** By its name, so that showing an error does not load the client. */
const isConnection = (error: unknown) =>
  (error as Error).constructor.name.startsWith('APIConnection') ||
  reasonOf((error as Error).cause) !== undefined

/** The error of the system is below one or two others. */
function reasonOf(error: unknown): string | undefined {
  let found = error as (Error & { code?: string; cause?: unknown }) | undefined
  while (found && typeof found === 'object') {
    if (found.code !== undefined) return found.message || found.code
    found = found.cause as typeof found
  }
  return undefined
}

const withRemedy = (message: string, remedy: string | undefined) =>
  remedy === undefined ? message : `${message}\n${remedy}`
