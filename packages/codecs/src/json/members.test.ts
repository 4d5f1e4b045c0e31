import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BadInput } from '@berth/kit/bad-input'
import { membersOf, startOfValue } from './members.ts'

const values = [
  {},
  { a: 1 },
  { 'quo"te': 'back\\slash', '': '\\"', end: '\\' },
  { list: [1, [2, { deep: ']}' }], '"'], object: { inner: {} }, yes: true, no: null, number: -1.5e-7 },
  { ['__proto__']: 'own', 'ü€😀': '😀\u2028' },
  { brackets: '{[', more: '}],"x":1' },
]

test('every member is where JSON.parse finds it', () => {
  for (const value of values) {
    const text = JSON.stringify(value)
    for (const around of ['', '[[', 'ü"']) {
      const { members, end } = membersOf(`${around}${text},"after"`, around.length)
      assert.equal(end, around.length + text.length)
      const found = members.map(({ name, valueStart, end: valueEnd, start }) => {
        assert.equal(text[start - around.length], '"')
        return [
          JSON.parse(`"${name}"`) as string,
          JSON.parse(text.slice(valueStart - around.length, valueEnd - around.length)) as unknown,
        ]
      })
      assert.deepEqual(found, Object.entries(value))
    }
  }
})

test('a value is found by its name, and not inside of other values', () => {
  const text = JSON.stringify({ one: { data: 1 }, 'data"': 2, data: { three: 3 } })
  assert.equal(text.slice(startOfValue(text, 0, 'data')), '{"three":3}}')
  assert.equal(startOfValue(text, 0, 'three'), undefined)
  assert.equal(startOfValue('{}', 0, 'data'), undefined)
})

test('what is cut off or no object is refused', () => {
  const text = JSON.stringify(values[3])
  for (let length = 0; length < text.length; length++) {
    assert.throws(() => membersOf(text.slice(0, length), 0), BadInput, text.slice(0, length))
  }
  for (const wrong of ['[]', '"a"', '{a:1}', '{"a"1}', '{"a":}', '{"a":[}']) {
    assert.throws(() => membersOf(wrong, 0), BadInput, wrong)
  }
})
