import type { FastifyRequest } from 'fastify'
import { redact } from '../platform/log/logging.ts'
import type { RequestRecord } from './request-audit.ts'
import type { RequestContext } from './request-context.ts'

const MAX_TEXT_LENGTH = 512

export function auditRecord(request: FastifyRequest, context: RequestContext, status: number): RequestRecord {
  const { principal, receivedAt } = context
  return {
    timestamp: receivedAt,
    project_id: principal.projectId ?? context.projectId,
    key_id: principal.keyId,
    request_id: request.id,
    service: 'api',
    auth_strategy: context.authStrategy,
    user_id: principal.creator.id,
    email: principal.creator.email,
    status,
    method: request.method,
    path: storable(pathOf(request.url)),
    route: request.route,
    domain: recurring(request.host),
    duration_ms: Date.now() - receivedAt.getTime(),
    client_ip: context.clientIp,
    user_agent: recurring(request.headers['user-agent'] ?? ''),
    scope: context.scope,
  }
}

function pathOf(url: string): string {
  const end = url.indexOf('?')
  return end === -1 ? url : url.slice(0, end)
}

const MAX_REMEMBERED = 100
const remembered = new Map<string, string>()

/** Few distinct hosts and clients exist, and every request names one, so their texts are cached. */
function recurring(text: string): string {
  let answer = remembered.get(text)
  if (answer !== undefined) return answer
  answer = storable(text)
  if (remembered.size >= MAX_REMEMBERED) remembered.clear()
  if (text.length <= MAX_TEXT_LENGTH) remembered.set(text, answer)
  return answer
}

/** Limits the length, redacts keys and tokens, and drops what PostgreSQL cannot store. */
function storable(text: string): string {
  return redact(text).replaceAll('\0', '').slice(0, MAX_TEXT_LENGTH)
}
