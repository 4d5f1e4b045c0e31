// A mail, as far as a login looks at it. It comes from anybody, so everything in it is bounded and nothing is believed.
import { bodyOf, type Link } from './html-text.ts'

export const MAX_MAIL_BYTES = 512 * 1024

export interface Mail {
  /** The address, such as `no-reply@example.com`. */
  readonly from: string
  readonly fromName: string
  readonly to: readonly string[]
  readonly subject: string
  readonly text: string
  readonly links: readonly Link[]
}

export interface RawMail {
  readonly from?: { readonly address?: string | undefined; readonly name?: string | undefined } | undefined
  readonly to?: readonly string[] | undefined
  readonly subject?: string | undefined
  readonly text?: string | undefined
  readonly html?: string | undefined
}

const MAX_TO = 50

export function toMail({ from, to = [], subject = '', text = '', html = '' }: RawMail): Mail {
  const body = bodyOf({ html, text })
  return {
    from: (from?.address ?? '').slice(0, 320).toLowerCase(),
    fromName: (from?.name ?? '').slice(0, 200),
    to: to.slice(0, MAX_TO).map((address) => address.toLowerCase()),
    subject: subject.slice(0, 500),
    text: body.text,
    links: body.links,
  }
}
