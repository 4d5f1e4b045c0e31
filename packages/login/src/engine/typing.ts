// Fills in a form and submits it.
import type { ElementSnapshot, PageSnapshot } from '@berth/contracts/page-snapshot'
import { readPage } from '../rules/read-page.ts'
import type { ReadForm } from '../rules/reading.ts'
import { isSame, type Browser } from './browser.ts'
import { LoginFailed } from './failure.ts'
import { isCode } from './values.ts'
import type { ReadField } from '../rules/reading.ts'

const ENABLING_LOOKS = 6

export interface Filled {
  readonly field: ReadField
  readonly value: string
  /** Where the value may be typed. */
  readonly hosts: readonly string[]
}

export type Sent = 'sent' | 'page changed' | 'left'

/** Throws where typing is not allowed. Returns `page changed` when the form is no longer on the page. */
export async function fillAndSend(
  browser: Browser,
  snapshot: PageSnapshot,
  form: ReadForm,
  filled: readonly Filled[],
  /** The person does the rest in place and submits the form. */
  { isLeft = false } = {},
): Promise<Sent> {
  for (const { field, value, hosts } of filled) {
    const { result, reason } = await browser.act({
      act: 'fill',
      refs: field.elements.map(({ ref }) => ref),
      value,
      hosts: [...hosts],
    })
    if (result === 'elsewhere')
      throw new LoginFailed(
        'domain_not_allowed',
        `Cannot fill in "${field.label}": the page is not on an allowed domain; add it to allowed_domains if you trust it`,
      )
    if (result === 'gone') return 'page changed'
    if (result === 'refused') {
      if (!(await dismissBanner(browser, snapshot)))
        throw new LoginFailed(
          'element_not_found',
          `Cannot fill in "${field.label}"${reason ? `: ${reason}` : ''}`,
        )
      const again = await browser.act({
        act: 'fill',
        refs: field.elements.map(({ ref }) => ref),
        value,
        hosts: [...hosts],
      })
      if (again.result !== 'done')
        throw new LoginFailed('element_not_found', `Cannot fill in "${field.label}"`)
    }
  }
  for (const element of form.ticks) await browser.act({ act: 'tick', refs: [element.ref] })
  if (isLeft) return 'left'
  // Many pages submit a complete code automatically.
  if (filled.some(({ field }) => isCode(field))) {
    const before = await browser.lookNow()
    const after = before.document === snapshot.document ? await browser.lookForChange(1_000) : before
    if (after.document !== snapshot.document || readPage(after).form?.signature !== form.signature)
      return 'sent'
  }
  if (await isEmptied(browser, filled)) {
    for (const { field, value, hosts } of filled) {
      const refs = field.elements.map(({ ref }) => ref)
      await browser.act({ act: 'fill', refs, value, hosts: [...hosts] })
    }
  }
  return send(browser, snapshot, form, filled)
}

/** Some applications draw their fields again while they start, and lose what was typed. */
async function isEmptied(browser: Browser, filled: readonly Filled[]): Promise<boolean> {
  // Pages check codes by themselves, and empty the field of a wrong one.
  if (filled.some(({ field }) => isCode(field))) return false
  const { elements } = await browser.lookAtOnce()
  const refs = new Set(filled.flatMap(({ field }) => field.elements.map(({ ref }) => ref)))
  return elements.some(
    ({ ref, has_value: hasValue, is_visible: isVisible }) => refs.has(ref) && isVisible && !hasValue,
  )
}

/** Presses the form's button, or Enter in its last field. */
export async function send(
  browser: Browser,
  snapshot: PageSnapshot,
  form: ReadForm,
  filled: readonly Filled[] = [],
): Promise<Sent> {
  const last = filled.at(-1)?.field.elements.at(-1) ?? form.fields.at(-1)?.elements.at(-1)
  const submit = form.submit ? await enabled(browser, form.submit) : undefined
  if (submit && (await browser.click(submit))) return 'sent'
  if (submit && (await dismissBanner(browser, snapshot)) && (await browser.click(submit))) return 'sent'
  if (!last) return 'page changed'
  const { result } = await browser.act({ act: 'enter', refs: [last.ref] })
  return result === 'done' ? 'sent' : 'page changed'
}

/** Many buttons are disabled until the page has checked the input. */
export async function enabled(
  browser: Browser,
  submit: ElementSnapshot,
): Promise<ElementSnapshot | undefined> {
  if (submit.is_enabled) return submit
  for (let looks = 0; looks < ENABLING_LOOKS; looks++) {
    const snapshot = await browser.lookForChange(400)
    const now = snapshot.elements.find(({ ref }) => ref === submit.ref)
    if (!now || now.is_enabled) return now
  }
  return undefined
}

async function dismissBanner(browser: Browser, snapshot: PageSnapshot): Promise<boolean> {
  const { dismiss } = readPage(snapshot)
  if (!dismiss || !(await browser.click(dismiss))) return false
  const after = await browser.lookNow()
  return !isSame(snapshot, after)
}
