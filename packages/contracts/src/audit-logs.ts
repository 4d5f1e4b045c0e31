import { Type, type Static } from 'typebox'
import { operation } from './operation.ts'
import { CommaList, OneOf, Text, Timestamp } from './schema.ts'

const tag = 'Audit log'

export const AuditLogEntry = Type.Object(
  {
    timestamp: Timestamp('When the request was received'),
    auth_strategy: Type.String({ description: 'How the caller authenticated, such as `api_key`' }),
    user_id: Type.String({ description: 'Id of the user who created the key' }),
    email: Type.String({ description: 'Email address of the user who created the key' }),
    status: Type.Integer({ description: 'HTTP status of the response' }),
    method: Type.String({ description: 'HTTP method' }),
    path: Type.String({ description: 'Path of the request, without the query string' }),
    route: Type.String({ description: 'Path pattern of the operation' }),
    domain: Type.String({ description: 'Host that the request was sent to' }),
    duration_ms: Type.Number({ description: 'Milliseconds until the response was ready' }),
    client_ip: Type.String({ description: 'IP address of the caller' }),
    user_agent: Type.String({ description: 'User agent of the caller' }),
    scope: Type.String({
      description:
        'Scope that the operation needs, such as `browsers:write`; empty for callers without a key. With status 403, the key may lack it',
    }),
  },
  { title: 'AuditLogEntry' },
)
export type AuditLogEntry = Static<typeof AuditLogEntry>

const Method = Text({ description: 'HTTP method', minLength: 1, maxLength: 16 })
const filters = {
  start: Timestamp('Start time, inclusive'),
  end: Timestamp('End time, exclusive; at most 30 days after `start`'),
  auth_strategy: Type.Optional(Text({ description: 'Only this authentication strategy', maxLength: 64 })),
  service: Type.Optional(Text({ description: 'Only this service. Berth has one: `api`', maxLength: 64 })),
  method: Type.Optional(Method),
  exclude_method: Type.Optional(
    CommaList({ description: 'HTTP methods to exclude', maxItems: 10, maxLength: 16 }),
  ),
  search: Type.Optional(
    Text({
      description: 'Case-insensitive text to find in the path, user id, email, IP address or status',
      maxLength: 255,
    }),
  ),
  search_user_id: Type.Optional(
    CommaList({ description: 'User ids that match in addition to `search`', maxItems: 100, maxLength: 255 }),
  ),
}

export const listAuditLogs = operation({
  id: 'listAuditLogs',
  referenceIds: ['getAuditLogs'],
  tag,
  summary: 'Search the audit log, newest first',
  method: 'GET',
  path: '/audit-logs',
  query: Type.Object({
    ...filters,
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100,
        default: 100,
        description: 'Maximum number of entries to return',
      }),
    ),
    page_token: Type.Optional(
      Text({ description: '`X-Next-Page-Token` of the previous page', maxLength: 255 }),
    ),
  }),
  status: 200,
  response: Type.Array(AuditLogEntry),
  paging: 'token',
  errors: ['bad_request'],
})

export const exportAuditLogs = operation({
  id: 'exportAuditLogs',
  referenceIds: ['getAuditLogsExportChunk'],
  tag,
  summary: 'Export the audit log, newest first: one JSON line per entry, including its event_id',
  method: 'GET',
  path: '/audit-logs/export/chunk',
  kind: 'binary',
  query: Type.Object({
    ...filters,
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 50_000,
        default: 50_000,
        description: 'Maximum number of lines to return',
      }),
    ),
    cursor: Type.Optional(Text({ description: '`X-Next-Cursor` of the previous chunk', maxLength: 255 })),
    format: Type.Optional(
      OneOf(['jsonl', 'jsonl.gz'] as const, { description: 'Format of the response', default: 'jsonl.gz' }),
    ),
  }),
  status: 200,
  contentType: 'application/octet-stream',
  paging: 'cursor',
  errors: ['bad_request'],
})
