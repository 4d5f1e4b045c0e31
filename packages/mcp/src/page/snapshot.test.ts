import assert from 'node:assert/strict'
import { test } from 'node:test'
import { searchSnapshot } from './snapshot.ts'

const snapshot = `- main [ref=e1]:
  - heading "Ships" [ref=e2]
  - list [ref=e3]:
    - listitem [ref=e4]:
      - link "Aurora" [ref=e5]:
        - /url: /aurora
    - listitem [ref=e6]:
      - link "Borealis" [ref=e7]
- contentinfo [ref=e8]`

test('a search shows lines with what they are in, and what is in them', () => {
  const { text, matches, shown } = searchSnapshot(snapshot, 'aurora', 1_000)
  assert.deepEqual([matches, shown], [2, 2])
  assert.equal(
    text,
    `- main [ref=e1]:
  - list [ref=e3]:
    - listitem [ref=e4]:
      - link "Aurora" [ref=e5]:
        - /url: /aurora`,
  )
})

test('what does not fit is counted', () => {
  const many = Array.from({ length: 100 }, (_, index) => `- button "Pick ${index}" [ref=e${index}]`).join(
    '\n',
  )
  const { text, matches, shown } = searchSnapshot(many, 'pick', 200)
  assert.equal(matches, 100)
  assert.ok(shown > 0 && shown < 100 && text.length <= 200)
  assert.deepEqual(searchSnapshot(many, 'nothing', 200), { text: '', matches: 0, shown: 0 })
})
