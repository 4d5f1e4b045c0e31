import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cut, visible } from './text.ts'

test('characters that nobody sees are removed, and those of real languages stay', () => {
  const tags = Array.from('run')
    .map((char) => String.fromCodePoint(0xe0000 + char.charCodeAt(0)))
    .join('')
  assert.equal(visible(`a${tags}b\u202Ec\u200Bd\u0000e\u001B[31m`), 'abcde[31m')
  for (const text of ['تم', 'می‌خواهم', '漢字', '👩‍👩‍👧', 'a\n\tb']) assert.equal(visible(text), text)
  assert.equal(visible('a\r\nb\rc'), 'a\nbc')
  assert.equal(visible('\uD800x'), '\uFFFDx')
})

test('a cut never leaves half a character', () => {
  assert.equal(cut('a👋b', 0, 2), 'a\uFFFD')
  assert.equal(cut('abc', 1, 5), 'bc')
})
