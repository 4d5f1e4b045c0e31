// Whether a page is a notice and little else. Words about trouble decide only on such pages: an application that the
// login has reached has notices too, about other things.
import type { PageSnapshot } from '@berth/contracts/page-snapshot'
import { accountNounWords, accountWords, perhapsLoginWords, signInWords } from '../words/actions.ts'
import { passwordWords, usernameWords } from '../words/fields.ts'
import { fold } from '../words/match.ts'
import { caption, isClickable } from './element-words.ts'
import type { Scene } from './reading.ts'

const MAX_CONTROLS = 10
const MAX_LENGTH = 1_500
const MAX_CAPTION_LENGTH = 40

/** Few controls, little text, and no menu of an account. The header and the footer of a website do not count. */
export function isNotice(snapshot: PageSnapshot, scenes: readonly Scene[]): boolean {
  const length = snapshot.frames.reduce((sum, { text }) => sum + text.length, 0)
  if (length >= MAX_LENGTH) return false
  const shown = scenes.flatMap(({ elements }) =>
    elements.filter((element) => element.is_visible && isClickable(element)),
  )
  const isOfAccount = shown.some((element) => {
    const says = fold(caption(element))
    if (says.length >= MAX_CAPTION_LENGTH || signInWords.in(says)) return false
    // `My account` is a link to the login as well.
    return accountWords.in(says) && !perhapsLoginWords.in(says)
  })
  const own = shown.filter(({ region }) => !/^(header|nav|footer)$/.test(region))
  return !isOfAccount && own.length < MAX_CONTROLS
}

/** Whether a notice is about the account or its login, and not about something else that has the same trouble. */
export function isAboutAccount(text: string): boolean {
  const says = fold(text)
  return accountNounWords.in(says) || usernameWords.in(says) || passwordWords.in(says) || signInWords.in(says)
}
