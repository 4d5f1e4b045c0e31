// The page of the live view. It is the same for every session; its URL tells it which one to show.
import type { LiveViewMode } from '@berth/contracts/live-view'
import { LIVE_PATH } from '../session/target.ts'
import { PageFiles } from '../../http/page-files.ts'

export const livePage = new PageFiles({
  name: 'live-view',
  path: LIVE_PATH,
  what: 'live view',
})

export async function liveHtml({
  mode,
  problem = '',
}: {
  mode: LiveViewMode
  problem: string | undefined
}): Promise<string> {
  const { html } = await livePage.page()
  return html.replace('{problem}', problem).replace('{mode}', mode)
}

/**
 * Allows only the page's own files and server; pictures of the screen are data URLs. Any page or app may embed it, so
 * there is no frame-ancestors: an embedder that knows the URL already has the token.
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
