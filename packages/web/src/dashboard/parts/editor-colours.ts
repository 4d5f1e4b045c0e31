import { HighlightStyle } from '@codemirror/language'
import { tags } from '@lezer/highlight'

/** Of words in code, in both themes. */
export const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: 'var(--accent)' },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--warn)' },
  { tag: [tags.comment, tags.punctuation], color: 'var(--quiet)' },
])
