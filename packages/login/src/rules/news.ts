// What a page says that it did not say before something was sent: an answer, in whatever words.
import type { PageSnapshot } from '@berth/contracts/page-snapshot'
import { fold } from '../words/match.ts'
import { caption, isClickable } from './element-words.ts'

const SHORTEST = 5
const LONGEST = 300

/** What is set off comes first, then lines that only stand there. */
export function newsOf(snapshot: PageSnapshot, linesBefore: ReadonlySet<string> | undefined): string[] {
  if (!linesBefore) return []
  const before = fold([...linesBefore].join('\n'))
  const captions = new Set(snapshot.elements.filter(isClickable).map((element) => fold(caption(element))))
  const isNew = (text: string) => {
    const folded = fold(text)
    return (
      text.length >= SHORTEST && text.length <= LONGEST && !before.includes(folded) && !captions.has(folded)
    )
  }
  const setOff = snapshot.frames.flatMap(({ messages }) => messages.map(({ text }) => text))
  const lines = snapshot.frames.flatMap(({ text }) => text.split('\n'))
  return [...new Set([...snapshot.dialogs, ...setOff, ...lines].filter(isNew))]
}
