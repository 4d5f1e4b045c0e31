// How long the server waits for an instance that was asked to do something, so that no call hangs forever.
import type { TSchema } from 'typebox'
import type { Operation } from './operation.ts'

/** Longer than honest work takes that has no time limit of its own, and than the overhead of work that has one. */
export const MARGIN_MS = 300_000

/** Fields of a request that limit the work, in milliseconds. */
const limits = { timeout_sec: 1000, timeout_ms: 1 }

interface Given {
  readonly query?: unknown
  readonly body?: unknown
}

/** From the last byte of the request to the first byte of the answer: the request's own time limit and a margin. */
export function maxAnswerMs({ query, body }: Operation, given: Given): number {
  return MARGIN_MS + limitIn(query, given.query) + limitIn(body, given.body)
}

function limitIn(schema: Operation['body'], given: unknown): number {
  for (const [name, unit] of Object.entries(limits)) {
    const field = schema?.properties[name] as (TSchema & { default?: number; maximum: number }) | undefined
    if (!field) continue
    const value = (given as Record<string, number | null | undefined> | undefined)?.[name]
    // Without a limit, the work may last as long as the longest session.
    return (value || field.default || field.maximum) * unit
  }
  return 0
}
