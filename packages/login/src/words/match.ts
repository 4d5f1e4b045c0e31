// Matches words of many languages against page text, ignoring case and accents.

/** Lower case, without accents, so that `ö` equals `o`. */
export function fold(text: string): string {
  return (
    text
      .normalize('NFKD')
      .replaceAll(/[\u0300-\u036f\u064b-\u0652]/g, '')
      .normalize('NFC')
      .toLowerCase()
      .replaceAll(/[’`´]/g, "'")
      .replaceAll(/[‐‑–—]/g, '-')
      .replaceAll(/\s+/g, ' ')
      // Pages add spaces to short Chinese and Japanese captions.
      .replaceAll(
        /(?<=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]) (?=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])/gu,
        '',
      )
      .trim()
  )
}

/** Splits an identifier into words: `loginUserName_1` gives `login user name 1` and `loginusername1`. */
export function tokens(name: string): string {
  const split = name
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .replaceAll(/(\p{L})(\p{N})|(\p{N})(\p{L})/gu, '$1$3 $2$4')
  return fold(`${split} ${name.replaceAll(/[^\p{L}\p{N}]+/gu, '')}`)
}

export interface Words {
  in(text: string): boolean
  /** The text without these words. */
  removedFrom(text: string): string
  /** Every word of the lists, folded, also those of phrases. */
  singles(): readonly string[]
}

// Includes Arabic and Hebrew, which attach articles and prepositions to the word.
const UNSPACED_SCRIPTS = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Thai}]`
const UNSPACED = new RegExp(UNSPACED_SCRIPTS, 'v')
/** Characters that continue a word. In text without spaces, a foreign word ends with its script: SMSで. */
const SAME_WORD = String.raw`[[\p{L}\p{N}]--${UNSPACED_SCRIPTS}]`
const SHORT = 4

/**
 * Matches at the start of a word. Long words may have an ending, as in many languages; short words and words with `=` must
 * match completely. In scripts without spaces, matches anywhere. Expects folded text.
 */
export function words(...lists: readonly string[]): Words {
  // Made when it is first needed: a server has dozens of lists, and most starts need none of them.
  let pattern: RegExp | undefined
  let everywhere: RegExp | undefined
  return {
    in: (text) => (pattern ??= patternOf(lists)).test(text),
    removedFrom: (text) =>
      text.replaceAll((everywhere ??= new RegExp((pattern ??= patternOf(lists)).source, 'vg')), ' '),
    singles: () =>
      lists
        .flatMap((list) => list.split(/[\s|]+/))
        .map((word) => fold(word.replace(/^=/, '')))
        .filter(Boolean),
  }
}

function patternOf(lists: readonly string[]): RegExp {
  const all = lists.flatMap((list) => list.split(/\s*[|\n]\s*/)).filter(Boolean)
  const read = all.map((word) => ({ isWhole: word.startsWith('='), text: fold(word.replace(/^=/, '')) }))
  const sourceOf = (isWanted: (word: Word) => boolean) =>
    [...new Set(read.filter(isWanted).map(({ text }) => escaped(text)))].join('|')
  const whole = sourceOf((word) => !isUnspaced(word) && isShort(word))
  const open = sourceOf((word) => !isUnspaced(word) && !isShort(word))
  const anywhere = sourceOf(isUnspaced)
  // The word boundary appears only once, because repeating it for each word makes the pattern slow to compile.
  const spaced = [whole && `(?:${whole})(?!${SAME_WORD})`, open].filter(Boolean).join('|')
  const parts = [spaced && `(?<!${SAME_WORD})(?:${spaced})`, anywhere]
  return new RegExp(parts.filter(Boolean).join('|'), 'v')
}

interface Word {
  readonly isWhole: boolean
  readonly text: string
}

function isUnspaced({ text }: Word): boolean {
  return UNSPACED.test(text)
}

function isShort({ isWhole, text }: Word): boolean {
  return isWhole || text.replaceAll(' ', '').length < SHORT
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`).replaceAll(' ', String.raw`[\s\-]*`)
}
