// Which captcha a page shows, as far as its addresses and fields tell.
import type { ElementSnapshot, PageSnapshot } from '@berth/contracts/page-snapshot'
import type { CaptchaKind } from '../run/captcha.ts'
import { captchaWords, passwordWords } from '../words/fields.ts'
import { fold } from '../words/match.ts'
import { roleOf } from './fields.ts'

const makers: readonly (readonly [CaptchaKind, RegExp])[] = [
  ['hcaptcha', /hcaptcha/i],
  ['turnstile', /turnstile|challenges\.cloudflare/i],
  ['arkose', /arkoselabs|funcaptcha/i],
  ['geetest', /geetest/i],
  ['recaptcha', /recaptcha/i],
]
const MAX_KEY_LENGTH = 200
/** A website that says this did not refuse the password. */
const ABOUT_IMAGE =
  /\b(characters?|picture|image|symbols|letters)\b|zeichen|\bbild|caract|immagine|imagen|символ|картин|字符|文字|画像/i

export function isAboutCaptcha(text: string): boolean {
  const words = fold(text)
  return captchaWords.in(words) || (ABOUT_IMAGE.test(words) && !passwordWords.in(words))
}

/** Around the field, where the image is: above it, or beside it. */
const ABOVE = 240
const BESIDE = 320

export interface SeenCaptcha {
  readonly kind: CaptchaKind
  readonly siteKey: string | undefined
  /** For the text of an image. */
  readonly field: ElementSnapshot | undefined
  /** The part of the window with the image. */
  readonly box: [number, number, number, number] | undefined
}

export function captchaOf({ frames, elements }: PageSnapshot): SeenCaptcha {
  const addresses = [
    ...frames.slice(1).map(({ url }) => url),
    ...frames.flatMap(({ challenges }) => challenges),
  ]
  for (const [kind, pattern] of makers) {
    const shown = addresses.filter((address) => pattern.test(address) && !/size=invisible/.test(address))
    if (shown.length > 0) return { kind, siteKey: keyIn(shown), field: undefined, box: undefined }
  }
  const field = elements.find(
    (element) =>
      element.is_visible &&
      (element.tag === 'input' || element.tag === 'textarea') &&
      roleOf(element) === 'captcha',
  )
  if (!field) return { kind: 'other', siteKey: undefined, field, box: undefined }
  return { kind: 'image', siteKey: undefined, field, box: boxAround(field) }
}

function keyIn(addresses: readonly string[]): string | undefined {
  for (const address of addresses) {
    const named = /[?&#](?:k|sitekey|site_key|pkey|captcha_id|gt)=([\w-]{8,})/i.exec(address)?.[1]
    const found = named ?? /\/(0x4[\w-]{10,})/.exec(address)?.[1]
    if (found !== undefined) return found.slice(0, MAX_KEY_LENGTH)
  }
  return undefined
}

function boxAround({ box: [x = 0, y = 0, width = 0, height = 0] }: ElementSnapshot): SeenCaptcha['box'] {
  const left = Math.max(0, x - 40)
  const top = Math.max(0, y - ABOVE)
  return [left, top, Math.min(2_000, width + BESIDE), y + height + 20 - top]
}
