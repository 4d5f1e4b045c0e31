// Pages for people that the set-up made: a template, and the files it loads. They are the same for everybody.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../platform/errors.ts'

const types = {
  'app.js': 'text/javascript; charset=utf-8',
  'app.css': 'text/css; charset=utf-8',
} as const
export type FileName = keyof typeof types
export const fileNames = Object.keys(types) as FileName[]

interface PageFile {
  readonly plain: Buffer
  readonly brotli: Buffer
  readonly hash: string
}

export interface Page {
  readonly html: string
  readonly files: Readonly<Record<FileName, PageFile>>
}

export class PageFiles {
  readonly #directory: string
  readonly #path: string
  readonly #what: string
  #loaded: Promise<Page> | undefined

  /** `path`: below which its files are served. `what`: for people. */
  constructor({ directory, path, what }: { directory: string; path: string; what: string }) {
    this.#directory = directory
    this.#path = path
    this.#what = what
  }

  /** Read when first asked for: most servers show nothing to anybody for a while. */
  page(): Promise<Page> {
    this.#loaded ??= this.#load().catch((error: unknown) => {
      this.#loaded = undefined
      throw new AppError(
        'unavailable',
        `Cannot show the ${this.#what}: its page is missing; run npm run setup`,
        { cause: error },
      )
    })
    return this.#loaded
  }

  async send(name: FileName, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { plain, brotli, hash } = (await this.page()).files[name]
    const isThisOne = (request.query as Record<string, unknown>)['v'] === hash
    const takesBrotli = /\bbr\b/.test(request.headers['accept-encoding'] ?? '')
    return reply
      .headers({
        'cache-control': isThisOne ? 'public, max-age=31536000, immutable' : 'no-cache',
        'x-content-type-options': 'nosniff',
        vary: 'accept-encoding',
        ...(takesBrotli && { 'content-encoding': 'br' }),
      })
      .type(types[name])
      .send(takesBrotli ? brotli : plain)
  }

  async #load(): Promise<Page> {
    const [template, script, style] = await Promise.all([
      readFile(join(this.#directory, 'page.html'), 'utf8'),
      this.#file('app.js'),
      this.#file('app.css'),
    ])
    const html = template
      .replace('{script}', `${this.#path}/app.js?v=${script.hash}`)
      .replace('{style}', `${this.#path}/app.css?v=${style.hash}`)
    return { html, files: { 'app.js': script, 'app.css': style } }
  }

  async #file(name: FileName): Promise<PageFile> {
    const [plain, brotli] = await Promise.all(
      ['', '.br'].map((end) => readFile(join(this.#directory, name + end))),
    )
    const hash = createHash('sha256').update(plain!).digest('base64url').slice(0, 16)
    return { plain: plain!, brotli: brotli!, hash }
  }
}
