// The API reference and the guide, as packages/web built them. They are read from disk for each request:
// few people open them, and only the list of their names stays in memory.
import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { extname, join } from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../platform/errors/app-error.ts'
import type { RawAnswer } from './call.ts'
import { dist } from './page-files.ts'

const directory = join(dist, 'docs')

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.webp': 'image/webp',
  '.svg': 'image/svg+xml',
}

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
  #names: Promise<ReadonlySet<string>> | undefined

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
    const names = await this.#list()
    const name = [path, `${path}.html`].find((each) => names.has(each))
    if (name === undefined || name === 'index.html') {
      throw new AppError('not_found', `Cannot find "/docs/${path}"`)
    }
    return name
  }

  async #answer(name: string, acceptEncoding = '', policy: string): Promise<RawAnswer> {
    const names = await this.#list()
    const isBrotli = /\bbr\b/.test(acceptEncoding) && names.has(`${name}.br`)
    const path = join(directory, isBrotli ? `${name}.br` : name)
    const { size } = await stat(path)
    return {
      body: createReadStream(path),
      headers: {
        'content-type': types[extname(name)] ?? 'application/octet-stream',
        'content-length': String(size),
        ...(isBrotli && { 'content-encoding': 'br' }),
        vary: 'accept-encoding',
        // File names in files/ change with their content, so caches may keep them.
        'cache-control': name.startsWith('files/') ? 'public, max-age=31536000, immutable' : 'no-cache',
        'content-security-policy': policy,
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      },
    }
  }

  /** Only files in this list are ever opened, whatever the path. */
  #list(): Promise<ReadonlySet<string>> {
    this.#names ??= namesIn(directory).catch((error: unknown) => {
      this.#names = undefined
      throw new AppError('unavailable', 'Cannot show the documentation: it is not built; run npm run setup', {
        cause: error,
      })
    })
    return this.#names
  }
}

async function namesIn(folder: string): Promise<ReadonlySet<string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return new Set(files.map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1)))
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
