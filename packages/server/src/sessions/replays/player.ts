// Serves the page behind `replay_view_url`. Its content is in packages/web; its security headers are here.
import { messagePage, playerPage, type Message, type PlayedReplay } from '@berth/web/replay/page'
import { readInlineCode, type InlineCode } from '../../http/page-files.ts'

export interface ShownPage {
  readonly html: string
  readonly headers: Readonly<Record<string, string>>
}

export class PlayerPages {
  #code: Promise<InlineCode> | undefined

  async player(replay: PlayedReplay): Promise<ShownPage> {
    const code = await this.#read()
    return { html: playerPage(code, replay), headers: headersFor(code) }
  }

  async message(message: Message): Promise<ShownPage> {
    const code = await this.#read()
    return { html: messagePage(code, message), headers: headersFor(code) }
  }

  /** Read on first use, and again after a failure. */
  #read(): Promise<InlineCode> {
    this.#code ??= readInlineCode({ name: 'replay', what: 'replay player' }).catch((error: unknown) => {
      this.#code = undefined
      throw error
    })
    return this.#code
  }
}

function headersFor({ styleHash, scriptHash }: InlineCode): Record<string, string> {
  return {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    // The URL contains the token.
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'content-security-policy':
      `default-src 'none'; media-src 'self'; style-src ${styleHash}; script-src ${scriptHash}; ` +
      "base-uri 'none'; form-action 'none'; frame-ancestors *",
  }
}
