// What an answer of a collector means, by the OTLP specification. It names four statuses that a sender tries again; other
// refusals are final for the data. Where the answer is about the sender and not the data, we keep the data and wait: then
// the operator or the owner of the destination has to change something.
import { readRejected } from './log-records.ts'

export type Verdict =
  /** It has all events but so many. */
  | { readonly kind: 'accepted'; readonly rejected: number }
  /** Try again, not before this time if it says so. */
  | { readonly kind: 'busy'; readonly reason: string; readonly afterMs?: number }
  /** The request was too large. */
  | { readonly kind: 'too-large'; readonly reason: string }
  /** It will never take these events. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** It takes none from this destination, as it is configured. */
  | { readonly kind: 'closed'; readonly reason: string }

export interface CollectorAnswer {
  readonly status: number
  readonly retryAfter: string | undefined
  readonly contentType: string | undefined
  readonly body: Uint8Array
}

const BUSY = new Set([429, 502, 503, 504])
const CLOSED = new Set([401, 403, 404, 405, 407, 415])
const MAX_RETRY_AFTER_MS = 3_600_000

export function verdictOn(answer: CollectorAnswer, now = Date.now()): Verdict {
  const { status } = answer
  if (status >= 200 && status < 300) return { kind: 'accepted', rejected: rejectedIn(answer) }
  if (status >= 300 && status < 400) {
    return {
      kind: 'closed',
      reason: `The collector answered with a redirect (${status}); give the address that it leads to`,
    }
  }
  const reason = `The collector answered ${status}`
  if (BUSY.has(status)) {
    const afterMs = readRetryAfter(answer.retryAfter, now)
    return { kind: 'busy', reason, ...(afterMs !== undefined && { afterMs }) }
  }
  if (status === 413) return { kind: 'too-large', reason }
  if (CLOSED.has(status)) return { kind: 'closed', reason: `${reason}; check the endpoint and the headers` }
  return { kind: 'refused', reason: `${reason}; the events of that request are not sent again` }
}

/** Seconds, or a date. */
export function readRetryAfter(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined
  const ms = /^\d{1,9}$/.test(text.trim()) ? Number(text) * 1000 : Date.parse(text) - now
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS)
}

function rejectedIn({ body, contentType = '' }: CollectorAnswer): number {
  if (body.length === 0) return 0
  try {
    const count = contentType.includes('json') ? rejectedInJson(body) : readRejected(body)
    return Number.isSafeInteger(count) && count > 0 ? count : 0
  } catch {
    // It has accepted the request, whatever else it says.
    return 0
  }
}

function rejectedInJson(body: Uint8Array): number {
  const { partialSuccess } = JSON.parse(Buffer.from(body).toString()) as {
    partialSuccess?: { rejectedLogRecords?: string | number }
  }
  return Number(partialSuccess?.rejectedLogRecords ?? 0)
}
