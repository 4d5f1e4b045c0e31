// Words of many languages against texts of pages, whatever case and accents either has.

/** Lower case, without accents: ö and o are one, as they are for whoever types in a hurry. */
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
      // Short captions are spaced out to look like longer ones.
      .replaceAll(
        /(?<=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]) (?=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])/gu,
        '',
      )
      .trim()
  )
}

/** Names that developers give, as words: `loginUserName_1` has `login user name` in it, and `loginusername`. */
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
}

// Arabic and Hebrew write articles and prepositions onto the word.
const UNSPACED_SCRIPTS = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Thai}]`
const UNSPACED = new RegExp(UNSPACED_SCRIPTS, 'v')
/** What a word goes on with. In texts without spaces a foreign word ends where its script does: SMSで. */
const SAME_WORD = String.raw`[[\p{L}\p{N}]--${UNSPACED_SCRIPTS}]`
const SHORT = 4

/**
 * A word begins where the text's begins; only longer ones may go on, as words do in many languages. `=` before one asks
 * for the end as well. In scripts without spaces, anywhere. Text is to be folded before.
 */
export function words(...lists: readonly string[]): Words {
  const all = lists.flatMap((list) => list.split(/\s*[|\n]\s*/)).filter(Boolean)
  const read = all.map((word) => ({ isWhole: word.startsWith('='), text: fold(word.replace(/^=/, '')) }))
  const sourceOf = (isWanted: (word: Word) => boolean) =>
    [...new Set(read.filter(isWanted).map(({ text }) => escaped(text)))].join('|')
  const whole = sourceOf((word) => !isUnspaced(word) && isShort(word))
  const open = sourceOf((word) => !isUnspaced(word) && !isShort(word))
  const anywhere = sourceOf(isUnspaced)
  // The borders are written once: with each word, the pattern takes many times as long to compile.
  const spaced = [whole && `(?:${whole})(?!${SAME_WORD})`, open].filter(Boolean).join('|')
  const parts = [spaced && `(?<!${SAME_WORD})(?:${spaced})`, anywhere]
  const pattern = new RegExp(parts.filter(Boolean).join('|'), 'v')
  return {
    in: (text) => pattern.test(text),
  }
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
