// The baseline: the same answers from plain Fastify and pg, without keys, audit log and logger. It is a separate
// process, like the server it is compared with.
import Fastify from 'fastify'
import { Pool } from 'pg'

const { BARE_PORT = '0', BARE_DATABASE_HOST, BARE_DATABASE_POOL = '10' } = process.env

const pool = new Pool({
  ...(BARE_DATABASE_HOST && { host: BARE_DATABASE_HOST }),
  user: 'berth',
  database: 'postgres',
  max: Number(BARE_DATABASE_POOL),
})

const text = { type: 'string' }
const time = { type: 'string', format: 'date-time' }
const cap = { type: 'integer', nullable: true, minimum: 0, maximum: 1_000_000 }
const idParams = {
  type: 'object',
  properties: { id: { type: 'string', maxLength: 255 } },
  required: ['id'],
}
const project = {
  type: 'object',
  properties: { id: text, name: text, status: text, created_at: time, updated_at: time },
}
const limits = {
  type: 'object',
  properties: {
    max_concurrent_sessions: cap,
    max_concurrent_invocations: cap,
    max_pooled_sessions: cap,
    max_storage_bytes: cap,
  },
}
const newProject = {
  type: 'object',
  properties: { name: { type: 'string', minLength: 1, maxLength: 255 } },
  required: ['name'],
  additionalProperties: false,
}

// By default, Fastify coerces types and would accept a number as a name.
const server = Fastify({
  logger: false,
  ajv: { customOptions: { coerceTypes: false, removeAdditional: false } },
})

server.get('/health', () => ({ status: 'ok' }))

server.get('/hello', () => ({ hello: 'world' }))

server.get<{ Params: { id: string } }>(
  '/org/projects/:id',
  { schema: { params: idParams, response: { 200: project } } },
  async (request, reply) => {
    const { rows } = await pool.query(
      'SELECT id, name, status, created_at, updated_at FROM projects WHERE id = $1 AND deleted_at IS NULL',
      [request.params.id],
    )
    return rows[0] ?? reply.code(404).send({ code: 'not_found' })
  },
)

server.post(
  '/echo',
  { schema: { body: newProject, response: { 200: newProject } } },
  (request) => request.body,
)

// Does what the server does for a change without effect: a transaction that reads and writes an audit record.
server.patch<{ Params: { id: string } }>(
  '/org/projects/:id/limits',
  {
    schema: {
      params: idParams,
      body: { ...limits, additionalProperties: false },
      response: { 200: limits },
    },
  },
  async (request, reply) => {
    const receivedAt = new Date()
    const client = await pool.connect()
    try {
      await client.query('BEGIN')
      const { rows } = await client.query('SELECT * FROM projects WHERE id = $1 AND deleted_at IS NULL', [
        request.params.id,
      ])
      await client.query(
        `INSERT INTO audit_logs (timestamp, project_id, key_id, request_id, service, auth_strategy, user_id,
           email, status, method, path, route, domain, duration_ms, client_ip, user_agent)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
        [
          receivedAt,
          null,
          'key',
          request.id,
          'api',
          'api_key',
          'operator',
          'operator@example.com',
          200,
          request.method,
          request.url,
          request.routeOptions.url,
          request.host,
          Date.now() - receivedAt.getTime(),
          request.ip,
          request.headers['user-agent'] ?? '',
        ],
      )
      await client.query('COMMIT')
      return rows[0] ?? reply.code(404).send({ code: 'not_found' })
    } catch (error) {
      await client.query('ROLLBACK')
      throw error
    } finally {
      client.release()
    }
  },
)

await server.listen({ host: '127.0.0.1', port: Number(BARE_PORT) })
process.send?.(server.listeningOrigin)
// Only a regular exit stores the compile cache; death by a signal does not.
for (const end of ['SIGINT', 'SIGTERM', 'disconnect']) process.on(end, () => process.exit())
