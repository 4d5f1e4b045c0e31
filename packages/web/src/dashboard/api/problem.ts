// What a person reads when something did not work.
import { sentence } from './field-problems.ts'

export interface Problem {
  readonly title: string
  /** What to do about it. */
  readonly remedy?: string
  readonly code?: string
  readonly requestId?: string
}

interface AnyRefusal {
  readonly status?: number
  readonly headers?: Headers
  readonly error?: { readonly code?: string; readonly message?: string }
  readonly message?: string
}

/** The server's messages are "Cannot do it: the reason; the remedy". */
export function problemOf(thrown: unknown): Problem {
  const refusal = (thrown ?? {}) as AnyRefusal
  const { status, headers, error } = refusal
  if (status === undefined) return unreachable(refusal)
  const message = error?.message ?? `The server answered ${status}`
  const at = message.lastIndexOf('; ')
  const requestId = headers?.get('x-request-id')
  return {
    title: at === -1 ? message : message.slice(0, at),
    ...(at !== -1 && { remedy: sentence(message.slice(at + 2)) }),
    ...(error?.code !== undefined && { code: error.code }),
    ...(requestId != null && { requestId }),
  }
}

export const isSignedOut = (thrown: unknown) => (thrown as AnyRefusal | undefined)?.status === 401

/** Nothing that the server would answer differently a moment later. */
export const isFinal = (thrown: unknown) => {
  const status = (thrown as AnyRefusal | undefined)?.status
  return status !== undefined && status < 500 && status !== 429
}

function unreachable({ message = '' }: AnyRefusal): Problem {
  const isFault = message !== '' && !/fetch|network|connection|timed out/i.test(message)
  if (isFault) return { title: message }
  return { title: 'The server does not answer', remedy: 'The page tries again by itself.' }
}
