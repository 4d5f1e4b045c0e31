// Text that is new on the page since the form was submitted. It is the response, in any words.
import type { PageSnapshot } from '@berth/contracts/page-snapshot'
import { fold } from '../words/match.ts'
import { caption, isClickable } from './element-words.ts'

const MIN_LENGTH = 5
const MAX_LENGTH = 300

/** Highlighted messages first, then plain text. */
export function newsOf(snapshot: PageSnapshot, linesBefore: ReadonlySet<string> | undefined): string[] {
  if (!linesBefore) return []
  const before = fold([...linesBefore].join('\n'))
  const captions = new Set(snapshot.elements.filter(isClickable).map((element) => fold(caption(element))))
  const isNew = (text: string) => {
    const folded = fold(text)
    return (
      text.length >= MIN_LENGTH &&
      text.length <= MAX_LENGTH &&
      !before.includes(folded) &&
      !captions.has(folded)
    )
  }
  const highlighted = snapshot.frames.flatMap(({ messages }) => messages.map(({ text }) => text))
  const lines = snapshot.frames.flatMap(({ text }) => text.split('\n'))
  return [...new Set([...snapshot.dialogs, ...highlighted, ...lines].filter(isNew))]
}
