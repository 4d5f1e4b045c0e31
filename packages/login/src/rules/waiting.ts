// Recognises pages that wait until the user does something elsewhere.
import type { PageSnapshot } from '@berth/contracts/page-snapshot'
import { codeWords, weakCodeWords } from '../words/fields.ts'
import { fold } from '../words/match.ts'
import { magicLinkWords, pushWords } from '../words/messages.ts'
import { caption, isClickable } from './element-words.ts'
import { isNotice } from './plain-page.ts'
import type { ReadForm, Scene } from './reading.ts'

const MAX_PAGE_LENGTH = 4_000
const MAX_MESSAGE_LENGTH = 300

export function waitingOf(
  snapshot: PageSnapshot,
  scenes: readonly Scene[],
  form: ReadForm | undefined,
  isSignedIn: boolean,
): string | undefined {
  if (isSignedIn || (form && form.kind !== 'code')) return undefined
  // Applications have notifications and approvals too.
  if (!form && !snapshot.is_polling && !isNotice(snapshot, scenes)) return undefined
  for (const { frame, elements } of scenes) {
    if (frame.text.length > MAX_PAGE_LENGTH) continue
    const captions = new Set(elements.filter(isClickable).map((element) => fold(caption(element))))
    const lines = frame.text
      .split('\n')
      .filter(
        (line) => line.length <= MAX_MESSAGE_LENGTH * 2 && isSentence(line) && !captions.has(fold(line)),
      )
    const waits = lines.filter((line) => {
      const says = fold(line)
      // A line about a code belongs to the code field.
      if (form && (codeWords.in(says) || weakCodeWords.in(says))) return false
      return pushWords.in(says) || magicLinkWords.in(says)
    })
    // A page with a code field also mentions phones and emails. It only waits if it polls the server.
    if (waits.length === 0 || (form && !snapshot.is_polling)) continue
    return longest(waits)
  }
  return undefined
}

/** A word alone is a menu or a heading. Some scripts have no spaces. */
function isSentence(line: string): boolean {
  const words = line.trim().split(/\s+/).length
  return words >= 3 || (words < 3 && /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Hangul}]{6}/u.test(line))
}

/** Instructions are longer than headings. */
function longest(lines: readonly string[]): string {
  return lines.toSorted((one, other) => other.length - one.length)[0]!.slice(0, MAX_MESSAGE_LENGTH)
}
