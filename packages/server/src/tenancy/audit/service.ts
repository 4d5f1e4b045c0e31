import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { AuditLogEntry } from '@berth/contracts/audit-logs'
import type { Db } from '../../platform/database/schema.ts'
import { invalidInput } from '../../platform/errors/app-error.ts'
import type { RawAnswer, TokenPage } from '../../http/call.ts'
import type { Principal } from '../../http/principal.ts'
import { toEntry, toLine } from './entry.ts'
import { listAuditRecords } from './store.ts'
import type { AuditTrail } from './trail.ts'
import type { AuditFilter, AuditPosition, AuditRecord } from './types.ts'

const MAX_RANGE_MS = 30 * 24 * 3_600_000
// An export reads this many rows at a time. Statements stay short, and a client that disconnects
// is noticed between two.
const EXPORT_BATCH = 5_000

const compress = promisify(gzip)

export interface AuditQuery {
  readonly start: string
  readonly end: string
  readonly auth_strategy?: string
  readonly service?: string
  readonly method?: string
  readonly exclude_method?: string[]
  readonly search?: string
  readonly search_user_id?: string[]
}

export class AuditService {
  readonly #trail: AuditTrail

  constructor(trail: AuditTrail) {
    this.#trail = trail
  }

  async list(
    db: Db,
    principal: Principal,
    query: AuditQuery & { limit?: number; page_token?: string },
    { signal }: { signal: AbortSignal },
  ): Promise<TokenPage<AuditLogEntry[]>> {
    const filter = toFilter(principal, query)
    const after = readPosition('page_token', query.page_token)
    await this.#trail.flush()
    const limit = query.limit ?? 100
    const rows = await listAuditRecords(db, filter, { limit: limit + 1, after, signal })
    const items = rows.slice(0, limit)
    return {
      items: items.map(toEntry),
      nextToken: rows.length > limit ? writePosition(positionOf(items.at(-1)!)) : undefined,
    }
  }

  async exportChunk(
    db: Db,
    principal: Principal,
    query: AuditQuery & { limit?: number; cursor?: string; format?: 'jsonl' | 'jsonl.gz' },
    { signal }: { signal: AbortSignal },
  ): Promise<RawAnswer> {
    const filter = toFilter(principal, query)
    const limit = query.limit ?? 50_000
    let after = readPosition('cursor', query.cursor)
    await this.#trail.flush()
    const lines: string[] = []
    let hasMore = true
    while (hasMore && lines.length < limit) {
      const wanted = Math.min(EXPORT_BATCH, limit - lines.length)
      const rows = await listAuditRecords(db, filter, { limit: wanted + 1, after, signal })
      hasMore = rows.length > wanted
      const batch = rows.slice(0, wanted)
      const last = batch.at(-1)
      if (last) after = positionOf(last)
      for (const row of batch) lines.push(toLine(row))
    }
    const text = Buffer.from(lines.join(''))
    const body = query.format === 'jsonl' ? text : await compress(text)
    return {
      body,
      headers: {
        'x-content-sha256': createHash('sha256').update(body).digest('hex'),
        'x-row-count': String(lines.length),
        'x-has-more': String(hasMore),
        ...(hasMore && { 'x-next-cursor': writePosition(after!) }),
      },
    }
  }
}

function toFilter(principal: Principal, query: AuditQuery): AuditFilter {
  const start = new Date(query.start)
  const end = new Date(query.end)
  if (end <= start) throw invalidInput('end', 'must be later than start')
  if (end.getTime() - start.getTime() > MAX_RANGE_MS) {
    throw invalidInput('end', 'must be at most 30 days after start')
  }
  return {
    projectId: principal.projectId,
    start,
    end,
    authStrategy: query.auth_strategy,
    service: query.service,
    method: query.method,
    excludeMethods: query.exclude_method ?? [],
    search: query.search,
    searchUserIds: query.search_user_id ?? [],
  }
}

function positionOf({ timestamp, id }: AuditRecord): AuditPosition {
  return { timestamp: new Date(timestamp), id }
}

function writePosition({ timestamp, id }: AuditPosition): string {
  return Buffer.from(`${timestamp.getTime()}.${id}`).toString('base64url')
}

function readPosition(field: string, token: string | undefined): AuditPosition | undefined {
  if (!token) return undefined
  const [, time, id] = /^(\d{1,15})\.(\d{1,18})$/.exec(Buffer.from(token, 'base64url').toString()) ?? []
  if (!time || !id) throw invalidInput(field, 'is not one this server gave out')
  return { timestamp: new Date(Number(time)), id }
}
