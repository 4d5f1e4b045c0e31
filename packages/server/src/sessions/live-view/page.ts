// The page of the live view. It is the same for every session: what it shows, it learns from its own address.
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
