// The dashboard: one page for every address below /dashboard, and the files that it loads.
import { join } from 'node:path'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../platform/errors/app-error.ts'
import { dist } from './page-files.ts'
import { StaticFolder } from './static-folder.ts'

const PATH = '/dashboard'
const FILES = 'files/'

export interface DashboardOptions {
  /** Session URLs begin with it; undefined: with the address that the person uses. */
  readonly publicOrigin: string | undefined
}

export function attachDashboard(server: FastifyInstance, { publicOrigin }: DashboardOptions): void {
  const folder = new StaticFolder({ directory: join(dist, 'dashboard'), what: 'dashboard' })
  server.get('/', { onRequest }, (_request, reply) => reply.redirect(PATH))
  for (const url of [PATH, `${PATH}/*`]) {
    server.get<{ Params: { '*'?: string } }>(url, { onRequest }, async (request, reply) => {
      const path = request.params['*'] ?? ''
      const isFile = path.startsWith(FILES)
      if (isFile && !(await folder.names()).has(path)) {
        throw new AppError('not_found', `Cannot find "${PATH}/${path}"`)
      }
      const origin = `${request.protocol}://${request.host}`
      const { body, headers } = await folder.answer(
        isFile ? path : 'index.html',
        request.headers['accept-encoding'],
        policyOf(origin, publicOrigin ?? origin),
      )
      return reply.headers({ ...headers, 'referrer-policy': 'same-origin' }).send(body)
    })
  }
}

function onRequest(request: FastifyRequest, _reply: unknown, done: () => void): void {
  request.route = PATH
  done()
}

/**
 * Scripts come from the files of the dashboard only: below this origin there are also the files of sessions, which
 * strangers write. Editors and terminals add style elements at run time.
 */
function policyOf(origin: string, sessionOrigin: string): string {
  const webSockets = sessionOrigin.replace(/^http/, 'ws')
  const files = `${origin}${PATH}/${FILES}`
  return [
    "default-src 'none'",
    `script-src ${files}`,
    `style-src ${files} 'unsafe-inline'`,
    "img-src 'self' data: blob:",
    "media-src 'self' blob:",
    `connect-src 'self' ${origin.replace(/^http/, 'ws')} ${sessionOrigin} ${webSockets}`,
    `frame-src 'self' ${sessionOrigin}`,
    `worker-src ${files}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
