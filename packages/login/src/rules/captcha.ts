// Whether the page asks to solve a captcha: a visible checkbox, image or puzzle. A badge in the corner is none.
import type { PageSnapshot } from '@berth/contracts/page-snapshot'
import { roleOf } from './fields.ts'
import type { ReadForm, Scene } from './reading.ts'

export function hasCaptcha(
  snapshot: PageSnapshot,
  scenes: readonly Scene[],
  form: ReadForm | undefined,
): boolean {
  const isAsked = scenes.some(({ elements, index }) =>
    elements.some(
      (element) =>
        element.is_visible &&
        (!form || form.frame !== index || element.group === form.group) &&
        (element.tag === 'input' || element.tag === 'textarea') &&
        roleOf(element) === 'captcha',
    ),
  )
  const traces = snapshot.frames.flatMap(({ challenges }) => challenges)
  const hasWidget = traces.some(
    (trace) =>
      trace.startsWith('frame:') &&
      /recaptcha.*(anchor|bframe|enterprise)|hcaptcha|arkose|funcaptcha|geetest|captcha/i.test(trace) &&
      !/size=invisible/.test(trace),
  )
  const hasPuzzle = traces.some(
    (trace) =>
      /^element:(img|canvas|div|section|form|p|span|label|iframe)/.test(trace) &&
      /captcha/i.test(trace) &&
      !/badge|cf-turnstile/i.test(trace),
  )
  // A puzzle elsewhere on the page does not matter if the login form is complete.
  const isWhole = form !== undefined && form.fields.some(({ kind }) => kind === 'password')
  return isAsked || hasWidget || (hasPuzzle && !isWhole)
}
