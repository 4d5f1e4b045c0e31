import type { IncomingHttpHeaders } from 'node:http'
import { MAX_PAGE } from '@berth/contracts/schema'
import type { OffsetPage, TokenPage } from './call.ts'
import { isClientBefore } from './client-version.ts'

/** Cuts the limit of a validated query to the largest page. */
export function cutLimit(query: { limit?: number }): void {
  if (query.limit !== undefined && query.limit > MAX_PAGE) query.limit = MAX_PAGE
}

type Headers = Record<string, string>

export function offsetHeaders(
  page: OffsetPage<unknown>,
  { limit, offset, request }: { limit: number; offset: number; request: IncomingHttpHeaders },
): Headers {
  return {
    'x-has-more': String(page.hasMore),
    'x-next-offset': String(page.hasMore ? (page.nextOffset ?? nextOffset(offset, limit, request)) : 0),
    'x-limit': String(limit),
    'x-offset': String(offset),
  }
}

// Clients before 0.68 add the number of received items to the offset we send, so they need the
// current offset; with the real next offset they would skip a page.
function nextOffset(offset: number, limit: number, request: IncomingHttpHeaders): number {
  return isClientBefore(request, 68) ? offset : offset + limit
}

export function tokenHeaders(page: TokenPage<unknown>, limit: number): Headers {
  return {
    'x-has-more': String(page.nextToken !== undefined),
    'x-limit': String(limit),
    ...(page.nextToken !== undefined && { 'x-next-page-token': page.nextToken }),
  }
}

/** Stores read one row more than the limit; that row shows that there is another page. */
export function toPage<T>(rows: T[], limit: number): OffsetPage<T[]> {
  return { items: rows.slice(0, limit), hasMore: rows.length > limit }
}
