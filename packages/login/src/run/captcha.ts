// A captcha, for whoever solves it besides a person. The server passes it to an address of the user.

export const captchaKinds = [
  'recaptcha',
  'hcaptcha',
  'turnstile',
  'arkose',
  'geetest',
  'image',
  'other',
] as const
export type CaptchaKind = (typeof captchaKinds)[number]

export interface CaptchaTask {
  readonly kind: CaptchaKind
  /** The public key of the website at the maker of the captcha. */
  readonly siteKey: string | undefined
  /** Without its query. */
  readonly pageUrl: string
  /** Base64 of a JPEG: of a captcha with an image, that part of the page, with all fields covered. */
  readonly picture: string | undefined
}

/** A token for the fields that the maker's script reads, or the text of an image. */
export type CaptchaAnswer = { readonly token: string } | { readonly text: string }

/** Undefined when it cannot solve this one. Rejects only with the signal's reason. */
export type SolveCaptcha = (task: CaptchaTask, signal: AbortSignal) => Promise<CaptchaAnswer | undefined>
