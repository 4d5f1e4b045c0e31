/** Why the store, or the token service, did not do it. Its message contains nothing that they sent but a code. */
export class S3Failure extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.name = 'S3Failure'
  }
}

/** A connection that the rules of this server do not allow, or that failed; its message may be shown. */
export class ConnectRefused extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.name = 'ConnectRefused'
  }
}

export class AnswerTooLarge extends Error {}

const CODE = /^[A-Za-z][A-Za-z0-9_.]{0,60}$/
const MAX_CAUSES = 4

/** Call it with what the SDK threw. */
export function toS3Failure(error: unknown): S3Failure {
  return error instanceof S3Failure ? error : new S3Failure(reasonOf(error), { cause: error })
}

interface Thrown {
  readonly name?: unknown
  readonly code?: unknown
  readonly $metadata?: { readonly httpStatusCode?: unknown }
  readonly cause?: unknown
}

function reasonOf(error: unknown): string {
  let thrown = error as Thrown
  for (let depth = 0; depth < MAX_CAUSES && typeof thrown === 'object' && thrown !== null; depth++) {
    if (thrown instanceof ConnectRefused) return thrown.message
    if (thrown instanceof AnswerTooLarge) return 'its answer is too large'
    const status = thrown.$metadata?.httpStatusCode
    if (typeof status === 'number') return `it answers ${codeIn(thrown.name) ?? 'an error'} (${status})`
    const code = codeIn(thrown.code)
    if (code !== undefined) return `the connection failed (${code})`
    if (thrown.name === 'CredentialsProviderError') return 'this server has no credentials of its own in AWS'
    if (thrown.name === 'TimeoutError' || thrown.name === 'AbortError') return 'it took too long to answer'
    thrown = thrown.cause as Thrown
  }
  return 'the request failed'
}

const codeIn = (value: unknown) =>
  typeof value === 'string' && CODE.test(value) && value !== 'Error' ? value : undefined
