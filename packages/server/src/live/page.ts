// The page of the live view and the two files it loads, as the set-up made them. It is the same for every
// session: what it shows, it learns from its own address.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { LiveViewMode } from '@berth/contracts/live-view'
import { AppError } from '../errors.ts'
import { LIVE_PATH } from '../gateway/target.ts'

const directory = join(import.meta.dirname, '../../../live-view/dist')

const assets = {
  'app.js': 'text/javascript; charset=utf-8',
  'app.css': 'text/css; charset=utf-8',
} as const
export type AssetName = keyof typeof assets
export const assetNames = Object.keys(assets) as AssetName[]

export interface Asset {
  readonly type: string
  readonly plain: Buffer
  readonly brotli: Buffer
  readonly hash: string
}

export interface LivePage {
  readonly assets: Readonly<Record<AssetName, Asset>>
  html(what: { mode: LiveViewMode; problem: string | undefined }): string
}

let loaded: Promise<LivePage> | undefined

/** Read when first asked for: most servers show nothing to anybody for a while. */
export function livePage(): Promise<LivePage> {
  loaded ??= load().catch((error: unknown) => {
    loaded = undefined
    throw new AppError('unavailable', 'Cannot show the live view: its page is missing; run npm run setup', {
      cause: error,
    })
  })
  return loaded
}

async function load(): Promise<LivePage> {
  const [template, script, style] = await Promise.all([
    readFile(join(directory, 'page.html'), 'utf8'),
    loadAsset('app.js'),
    loadAsset('app.css'),
  ])
  const page = template
    .replace('{script}', `${LIVE_PATH}/app.js?v=${script.hash}`)
    .replace('{style}', `${LIVE_PATH}/app.css?v=${style.hash}`)
  return {
    assets: { 'app.js': script, 'app.css': style },
    html: ({ mode, problem = '' }) => page.replace('{problem}', problem).replace('{mode}', mode),
  }
}

async function loadAsset(name: AssetName): Promise<Asset> {
  const [plain, brotli] = await Promise.all(['', '.br'].map((end) => readFile(join(directory, name + end))))
  const hash = createHash('sha256').update(plain!).digest('base64url').slice(0, 16)
  return { type: assets[name], plain: plain!, brotli: brotli!, hash }
}

/**
 * Nothing but its own files and its own server; pictures of the screen are data. Any page may embed it, also one
 * that is no web page, so there is no word of ancestors: who can name its address has the token in it.
 */
export function pageHeaders(origin: string): Record<string, string> {
  const webSockets = origin.replace(/^http/, 'ws')
  return {
    'content-security-policy': [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      'img-src data: blob:',
      `connect-src 'self' ${webSockets}`,
      "base-uri 'none'",
      "form-action 'none'",
    ].join('; '),
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-robots-tag': 'noindex',
  }
}
