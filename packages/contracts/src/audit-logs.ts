import { Type, type Static } from 'typebox'
import { operation } from './operation.ts'
import { CommaList, OneOf, Text, Timestamp } from './schema.ts'

const tag = 'Audit log'

export const AuditLogEntry = Type.Object(
  {
    timestamp: Timestamp('When the request was received'),
    auth_strategy: Type.String({ description: 'How the caller was recognised, such as `api_key`' }),
    user_id: Type.String({ description: 'Id of the creator of the key' }),
    email: Type.String({ description: 'E-mail of the creator of the key' }),
    status: Type.Integer({ description: 'HTTP status of the answer' }),
    method: Type.String({ description: 'HTTP method' }),
    path: Type.String({ description: 'Path of the request, without its query' }),
    route: Type.String({ description: 'Path pattern of the operation' }),
    domain: Type.String({ description: 'Host the request was sent to' }),
    duration_ms: Type.Number({ description: 'Time until the answer was ready' }),
    client_ip: Type.String({ description: 'Address of the caller' }),
    user_agent: Type.String({ description: 'User agent of the caller' }),
  },
  { title: 'AuditLogEntry' },
)
export type AuditLogEntry = Static<typeof AuditLogEntry>

const Method = Text({ description: 'HTTP method', minLength: 1, maxLength: 16 })
const filters = {
  start: Timestamp('Earliest time, inclusive'),
  end: Timestamp('Latest time, exclusive; at most 30 days after start'),
  auth_strategy: Type.Optional(Text({ description: 'Only this strategy', maxLength: 64 })),
  service: Type.Optional(Text({ description: 'Only this service; Berth has one, `api`', maxLength: 64 })),
  method: Type.Optional(Method),
  exclude_method: Type.Optional(
    CommaList({ description: 'Leave out these methods', maxItems: 10, maxLength: 16 }),
  ),
  search: Type.Optional(
    Text({
      description: 'Case-insensitive part of path, user id, e-mail, address or status',
      maxLength: 255,
    }),
  ),
  search_user_id: Type.Optional(
    CommaList({ description: 'User ids that also match the search', maxItems: 100, maxLength: 255 }),
  ),
}

export const listAuditLogs = operation({
  id: 'listAuditLogs',
  tag,
  summary: 'Search the audit log, newest first',
  method: 'GET',
  path: '/audit-logs',
  query: Type.Object({
    ...filters,
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100, default: 100, description: 'Most entries to return' }),
    ),
    page_token: Type.Optional(Text({ description: 'X-Next-Page-Token of the page before', maxLength: 255 })),
  }),
  status: 200,
  response: Type.Array(AuditLogEntry),
  paging: 'token',
  errors: ['bad_request'],
})

export const exportAuditLogs = operation({
  id: 'exportAuditLogs',
  tag,
  summary: 'Export the audit log, newest first: a JSON line per entry, with its event_id',
  method: 'GET',
  path: '/audit-logs/export/chunk',
  kind: 'binary',
  query: Type.Object({
    ...filters,
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 50_000, default: 50_000, description: 'Most lines to return' }),
    ),
    cursor: Type.Optional(Text({ description: 'X-Next-Cursor of the chunk before', maxLength: 255 })),
    format: Type.Optional(
      OneOf(['jsonl', 'jsonl.gz'] as const, { description: 'Encoding', default: 'jsonl.gz' }),
    ),
  }),
  status: 200,
  contentType: 'application/octet-stream',
  paging: 'cursor',
  errors: ['bad_request'],
})
