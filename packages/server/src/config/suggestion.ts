/** The setting that was probably meant by an unknown name; undefined when none is close. */
export function suggestion(name: string, known: readonly string[]): string | undefined {
  const words = new Set(wordsOf(name))
  return known.find((each) => isNearlySame(each, name) || wordsOf(each).every((word) => words.has(word)))
}

const wordsOf = (name: string) => name.split('_').slice(1)

function isNearlySame(a: string, b: string): boolean {
  return sortedLetters(a) === sortedLetters(b) || a.startsWith(b) || b.startsWith(a)
}

function sortedLetters(word: string): string {
  return word.split('').toSorted().join('')
}
