// Health, metrics and documentation of the server itself.
import { Type } from 'typebox'
import { operation } from './operation.ts'
import { OneOf } from './schema.ts'

const tag = 'System'
const Health = Type.Object(
  {
    status: OneOf(['ok'] as const, { description: 'Always `ok`' }),
    version: Type.String({ description: 'Version of Berth' }),
  },
  { title: 'Health' },
)

export const getHealth = operation({
  id: 'getHealth',
  tag,
  summary: 'Check whether the server process is alive',
  method: 'GET',
  path: '/health',
  aliases: ['/status'],
  auth: 'none',
  status: 200,
  response: Health,
})

export const getReadiness = operation({
  id: 'getReadiness',
  tag,
  summary: 'Check whether the server accepts work; returns 503 while it starts, drains or has no database',
  method: 'GET',
  path: '/ready',
  auth: 'none',
  status: 200,
  response: Type.Object({
    status: OneOf(['ready'] as const, { description: 'Always `ready`' }),
  }),
  errors: ['unavailable'],
})

export const getMetrics = operation({
  id: 'getMetrics',
  tag,
  summary: 'Get metrics in the Prometheus text format',
  method: 'GET',
  path: '/metrics',
  auth: 'organization-key',
  kind: 'text',
  status: 200,
  contentType: 'text/plain; version=0.0.4; charset=utf-8',
  errors: ['forbidden'],
})

export const getOpenApi = operation({
  id: 'getOpenApi',
  tag,
  summary: 'Get this API as an OpenAPI 3.1 document',
  method: 'GET',
  path: '/openapi.json',
  aliases: ['/spec.json'],
  auth: 'none',
  kind: 'text',
  status: 200,
  contentType: 'application/json; charset=utf-8',
})

export const getDocs = operation({
  id: 'getDocs',
  tag,
  summary: 'Open the API reference page',
  method: 'GET',
  path: '/docs',
  auth: 'none',
  kind: 'html',
  status: 200,
  contentType: 'text/html; charset=utf-8',
})
