// Types like a person: the time per key varies, there are pauses between words, and now and then a
// neighbouring key is hit and corrected.
import { BACKSPACE, keysymsOfText } from '../keys/keysyms.ts'
import { normal } from './curves.ts'

const MIN_KEY_MS = 50
const MAX_KEY_MS = 120
const WORD_MS = 140
const WORD_SPREAD_MS = 60
const MIN_WORD_MS = 60
const AFTER_SENTENCE = 1.5
/** Time to notice a mistake. */
const NOTICE_MS = 200

const rows = ['qwertyuiop', 'asdfghjkl', 'zxcvbnm']

export interface Stroke {
  readonly keysym: number
  /** Pause after this key. */
  readonly waitMs: number
}

export function inRhythm(text: string, typoChance: number): Stroke[] {
  const characters = Array.from(text.replaceAll('\r\n', '\n'))
  const keysyms = keysymsOfText(text)
  return characters.flatMap((character, index) => {
    const right = { keysym: keysyms[index]!, waitMs: waitAfter(character, characters[index - 1]) }
    const wrong = Math.random() < typoChance ? neighbourOf(character) : undefined
    if (wrong === undefined) return [right]
    return [
      { keysym: keysymsOfText(wrong)[0]!, waitMs: NOTICE_MS + betweenKeys() },
      { keysym: BACKSPACE, waitMs: betweenKeys() },
      right,
    ]
  })
}

const betweenKeys = () => MIN_KEY_MS + Math.random() * (MAX_KEY_MS - MIN_KEY_MS)

function waitAfter(character: string, before: string | undefined): number {
  if (!/\s/u.test(character)) return betweenKeys()
  const word = Math.max(MIN_WORD_MS, WORD_MS + WORD_SPREAD_MS * normal())
  return /[.!?]/u.test(before ?? '') ? word * AFTER_SENTENCE : word
}

/** Letters only, because their neighbours are always harmless. */
function neighbourOf(character: string): string | undefined {
  const small = character.toLowerCase()
  const row = rows.find((each) => each.includes(small))
  if (!row || small.length !== 1) return undefined
  const at = row.indexOf(small)
  const neighbour = row[at + 1] ?? row[at - 1]!
  return character === small ? neighbour : neighbour.toUpperCase()
}
