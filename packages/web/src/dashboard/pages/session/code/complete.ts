import type { CompletionContext, CompletionResult } from '@codemirror/autocomplete'
import { names, wordsOf } from './words.ts'

/** Completes members of what the code has, and of locators after a call that makes one. */
export function completePlaywright(context: CompletionContext): CompletionResult | null {
  const member = context.matchBefore(/[\w$)]+\.[\w$]*/)
  if (member) {
    const at = member.text.lastIndexOf('.')
    const before = member.text.slice(0, at)
    const words = before.endsWith(')') ? wordsOf['locator'] : wordsOf[before]
    return words ? resultOf(member.from + at + 1, words, 'method') : null
  }
  const word = context.matchBefore(/[\w$]+/)
  return word ? resultOf(word.from, names, 'variable') : null
}

const resultOf = (from: number, words: readonly string[], type: string): CompletionResult => ({
  from,
  options: words.map((label) => ({ label, type })),
  validFor: /^[\w$]*$/,
})
