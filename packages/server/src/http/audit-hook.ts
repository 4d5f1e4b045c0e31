import type { FastifyRequest } from 'fastify'
import type { NewAuditRecord } from '../audit/types.ts'
import { redact } from '../logging.ts'
import type { RequestContext } from './request-context.ts'

const LONGEST_TEXT = 512

export function auditRecord(
  request: FastifyRequest,
  context: RequestContext,
  status: number,
): NewAuditRecord {
  const { principal, receivedAt } = context
  return {
    timestamp: receivedAt,
    project_id: principal.projectId ?? context.projectId,
    key_id: principal.keyId,
    request_id: request.id,
    service: 'api',
    auth_strategy: 'api_key',
    user_id: principal.creator.id,
    email: principal.creator.email,
    status,
    method: request.method,
    path: storable(request.url.split('?', 1)[0]!),
    route: request.routeOptions.url ?? '',
    domain: storable(request.host),
    duration_ms: Date.now() - receivedAt.getTime(),
    client_ip: context.clientIp,
    user_agent: storable(request.headers['user-agent'] ?? ''),
  }
}

/** Bounded, free of keys and tokens, and without what PostgreSQL cannot store. */
function storable(text: string): string {
  return redact(text).replaceAll('\0', '').slice(0, LONGEST_TEXT)
}
