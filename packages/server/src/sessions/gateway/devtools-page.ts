// The page that loads the DevTools front end of a session's browser. The page is ours, and its script prepares a place
// in which the front end works; the front end comes from the instance and is hostile. So the page has no origin: it
// reaches neither Berth's cookie nor its pages, and its policy lets it reach only its own session.
import { readInlineCode, type InlineCode } from '../../http/page-files.ts'
import { DEVTOOLS_PATH } from '../session/target.ts'

const ENTRY = 'entrypoints/devtools_app/devtools_app.js'
const STYLES = ['application_tokens.css', 'design_system_tokens.css']

export interface DevtoolsPage {
  readonly html: string
  readonly headers: Readonly<Record<string, string>>
}

export class DevtoolsPages {
  #code: Promise<InlineCode> | undefined

  /** `token` has been verified, so it has no characters that mean something in HTML. */
  async show({ token, origin }: { token: string; origin: string }): Promise<DevtoolsPage> {
    const code = await this.#read()
    const base = `${DEVTOOLS_PATH}/${token}/`
    const links = STYLES.map((name) => `<link rel="stylesheet" href="../front_end/${name}">`).join('')
    // The identifier and the class are what the front end's own style sheets expect.
    const html =
      '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>DevTools</title>' +
      '<link rel="icon" href="data:,">' +
      `<style>${code.style}</style><script>${code.script}</script>${links}` +
      `<script type="module" src="../front_end/${ENTRY}"></script></head>` +
      '<body class="undocked" id="-blink-dev-tools"></body></html>'
    return { html, headers: headersFor(code, `${origin}${base}`) }
  }

  /** Read on first use, and again after a failure. */
  #read(): Promise<InlineCode> {
    this.#code ??= readInlineCode({ name: 'devtools', what: 'page of DevTools' }).catch((error: unknown) => {
      this.#code = undefined
      throw error
    })
    return this.#code
  }
}

function headersFor({ scriptHash }: InlineCode, base: string): Record<string, string> {
  const frontEnd = `${base}front_end/`
  return {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    // The URL contains the token.
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-robots-tag': 'noindex',
    'content-security-policy': [
      // Without allow-same-origin, also when the page is opened by itself.
      'sandbox allow-scripts allow-forms allow-popups allow-modals allow-downloads',
      "default-src 'none'",
      `script-src ${scriptHash} ${frontEnd}`,
      // A page without an origin makes workers from data URLs, which import the URL.
      `worker-src data: ${frontEnd}`,
      // The front end sets styles of elements, and shows pictures that it got over the websocket.
      `style-src 'unsafe-inline' ${frontEnd}`,
      `img-src ${frontEnd} data: blob:`,
      `font-src ${frontEnd} data:`,
      `connect-src ${frontEnd} ${base.replace(/^http/, 'ws')}page/ data: blob:`,
      'frame-src data:',
      "object-src 'none'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'self'",
    ].join('; '),
  }
}
