// Finds the button that closes a cookie banner. Prefers to reject cookies.
import type { ElementSnapshot } from '@berth/contracts/page-snapshot'
import { acceptCookieWords, cookieWords, rejectCookieWords } from '../words/actions.ts'
import { fold, tokens } from '../words/match.ts'
import { caption, isClickable } from './element-words.ts'
import type { Scene } from './reading.ts'

export function dismissOf(scenes: readonly Scene[]): ElementSnapshot | undefined {
  for (const { frame, elements } of scenes) {
    if (!cookieWords.in(fold(frame.text))) continue
    const buttons = elements.filter((element) => {
      if (!element.is_visible || !isClickable(element) || element.tag === 'a') return false
      return caption(element).length < 50 && isOfBanner(element)
    })
    const found =
      buttons.find((element) => rejectCookieWords.in(says(element))) ??
      buttons.find((element) => acceptCookieWords.in(says(element)))
    if (found) return found
  }
  return undefined
}

function says(element: ElementSnapshot): string {
  return fold(caption(element))
}

/** Whether a control answers a cookie banner. */
export function isBannerButton({ frame }: Scene, element: ElementSnapshot): boolean {
  const text = says(element)
  if (!rejectCookieWords.in(text) && !acceptCookieWords.in(text)) return false
  return isOfBanner(element) && cookieWords.in(fold(frame.text))
}

function isOfBanner(element: ElementSnapshot): boolean {
  const names = tokens(`${element.id} ${element.class_name} ${element.data} ${element.selector}`)
  return (
    cookieWords.in(fold(`${element.near} ${caption(element)}`)) ||
    /cookie|consent|gdpr|privacy/.test(names) ||
    element.is_in_dialog
  )
}
