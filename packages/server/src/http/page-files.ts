// The pages that packages/web builds: a template for each, and the files it loads. Everybody gets the same ones.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../platform/errors/app-error.ts'
import { distOf } from '../platform/files/installation.ts'

export const dist = distOf('web')

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
  readonly #name: string
  readonly #path: string
  readonly #what: string
  #loaded: Promise<Page> | undefined

  /** `name`: the folder in packages/web. `path`: the URL path of the files. `what`: the page's name in error messages. */
  constructor({ name, path, what }: { name: string; path: string; what: string }) {
    this.#name = name
    this.#path = path
    this.#what = what
  }

  /** Read on first use: many servers never show the page. */
  page(): Promise<Page> {
    this.#loaded ??= this.#load().catch((error: unknown) => {
      this.#loaded = undefined
      throw missing(this.#what, error)
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
      readFile(join(dist, this.#name, 'page.html'), 'utf8'),
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
      ['', '.br'].map((end) => readFile(join(dist, this.#name, name + end))),
    )
    const hash = createHash('sha256').update(plain!).digest('base64url').slice(0, 16)
    return { plain: plain!, brotli: brotli!, hash }
  }
}

/** The inline style and script of a page, with a policy that allows exactly these two. */
export interface InlineCode {
  readonly style: string
  readonly script: string
  /** For `style-src` and `script-src`. */
  readonly styleHash: string
  readonly scriptHash: string
}

export async function readInlineCode({ name, what }: { name: string; what: string }): Promise<InlineCode> {
  try {
    const [style, script] = await Promise.all(
      ['app.css', 'app.js'].map((file) => readFile(join(dist, name, file), 'utf8')),
    )
    return { style: style!, script: script!, styleHash: hashSource(style!), scriptHash: hashSource(script!) }
  } catch (error) {
    throw missing(what, error)
  }
}

const hashSource = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

const missing = (what: string, cause: unknown) =>
  new AppError('unavailable', `Cannot show the ${what}: its page is not built; run npm run setup`, { cause })
