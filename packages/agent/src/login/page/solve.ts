// Puts the token of a captcha where the script of its maker would put it.
import type { Solved } from '../page-types.ts'
import { allIn } from './safe.ts'

/** The fields that forms send. */
const FIELDS =
  '[name="g-recaptcha-response"], [name="h-captcha-response"], [name="cf-turnstile-response"], [name="frc-captcha-solution"], [name="fc-token"]'
const WIDGETS = '[data-callback]'
const MAX_CALLBACKS = 5

export function solve(roots: readonly (Document | ShadowRoot)[], token: string): Solved {
  let fields = 0
  const callbacks = new Set<string>()
  for (const root of roots) {
    for (const field of allIn(root, FIELDS)) {
      if (!(field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement)) continue
      field.value = token
      field.dispatchEvent(new Event('input', { bubbles: true }))
      field.dispatchEvent(new Event('change', { bubbles: true }))
      fields++
    }
    for (const widget of allIn(root, WIDGETS)) {
      const name = widget.getAttribute('data-callback') ?? ''
      if (/^[\w$.]{1,100}$/.test(name) && callbacks.size < MAX_CALLBACKS) callbacks.add(name)
    }
  }
  return { fields, callbacks: [...callbacks] }
}
