// The API reference and the guide, as packages/web built them.
import { join } from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../platform/errors/app-error.ts'
import type { RawAnswer } from './call.ts'
import { dist } from './page-files.ts'
import { StaticFolder } from './static-folder.ts'

const nowhereElse = ["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"]

/** Scalar adds style elements and attributes at run time, so inline styles are allowed; scripts are not. */
const referencePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  ...nowhereElse,
].join('; ')

/** A page of the guide contains only text and pictures. */
const guidePolicy = ["default-src 'none'", "style-src 'self'", "img-src 'self' data:", ...nowhereElse].join(
  '; ',
)

export class DocsFiles {
  readonly #folder = new StaticFolder({ directory: join(dist, 'docs'), what: 'documentation' })

  /** The page at /docs. */
  async reference(acceptEncoding: string | undefined): Promise<RawAnswer> {
    return this.#answer('index.html', acceptEncoding, referencePolicy)
  }

  /** `path` is the part after `/docs/`. */
  async file(path: string, acceptEncoding: string | undefined): Promise<RawAnswer> {
    return this.#answer(await this.nameOf(path), acceptEncoding, guidePolicy)
  }

  /** Throws when there is no such file. */
  async nameOf(path: string): Promise<string> {
    const names = await this.#folder.names()
    const name = [path, `${path}.html`].find((each) => names.has(each))
    if (name === undefined || name === 'index.html') {
      throw new AppError('not_found', `Cannot find "/docs/${path}"`)
    }
    return name
  }

  async #answer(name: string, acceptEncoding: string | undefined, policy: string): Promise<RawAnswer> {
    const { headers, ...answer } = await this.#folder.answer(name, acceptEncoding, policy)
    return { ...answer, headers: { ...headers, 'referrer-policy': 'no-referrer' } }
  }
}

/** Everything except /docs itself, which is an operation of the contract. */
export function attachDocs(server: FastifyInstance, docs: DocsFiles): void {
  const url = '/docs/*'
  const onRequest = (request: FastifyRequest, _reply: FastifyReply, done: () => void) => {
    request.route = url
    done()
  }
  server.get<{ Params: { '*': string } }>(url, { onRequest }, async (request, reply) => {
    const { body, headers } = await docs.file(request.params['*'], request.headers['accept-encoding'])
    return reply.headers(headers ?? {}).send(body)
  })
  // A path without a file is not found by any method, as everywhere else.
  server.route<{ Params: { '*': string } }>({
    method: ['POST', 'PUT', 'PATCH', 'DELETE'],
    url,
    onRequest,
    handler: async (request) => {
      await docs.nameOf(request.params['*'])
      throw new AppError('method_not_allowed', `Cannot ${request.method} here`, { headers: { allow: 'GET' } })
    },
  })
}
