import assert from 'node:assert/strict'
import { test } from 'node:test'
import { renderMarkdown } from './markdown.ts'

const render = (text: string) => renderMarkdown(text, (href) => (href === 'gone.md' ? undefined : href))
const bodyOf = (text: string) => render(text).body.toString()

test('headings get the ids of GitHub, and the first is the title', () => {
  const { title, headings } = render('# `A` page, of ours\n\n## What it does\n\n## What it does\n')
  assert.equal(title, 'A page, of ours')
  assert.deepEqual(
    headings.map(({ id }) => id),
    ['a-page-of-ours', 'what-it-does', 'what-it-does-1'],
  )
})

test('code is escaped, and the output of a block has its own style', () => {
  const body = bodyOf('```sh run\necho "<b>" && true\n```\n\n```text output\n<b>\n```\n')
  assert.match(body, /<pre class=""><code>echo &quot;&lt;b&gt;&quot; &amp;&amp; true<\/code><\/pre>/)
  assert.match(body, /<pre class="output"><code>&lt;b&gt;<\/code><\/pre>/)
})

test('a link to a file that the server does not show is text, and a link to another site sends no referrer', () => {
  assert.equal(bodyOf('[text](gone.md)').trim(), '<p>text</p>')
  assert.match(bodyOf('[x](https://example.com)'), /href="https:\/\/example.com" rel="noopener noreferrer"/)
  assert.match(bodyOf('[x](sessions.md#a)'), /href="sessions.md#a"/)
})

test('each table scrolls on its own, and comments are left out', () => {
  const body = bodyOf('<!-- for a test -->\n\n| a | `b` |\n| - | - |\n| 1 | 2 |\n')
  assert.equal(
    body.trim(),
    '<div class="table"><table><thead><tr><th>a</th><th><code>b</code></th></tr></thead>' +
      '<tbody><tr><td>1</td><td>2</td></tr></tbody></table></div>',
  )
})
