import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isUnknownText, partsOf, readText } from './form.ts'

const CONTENT_TYPE = 'multipart/form-data; boundary=xyz'
const FORM = [
  'a preamble\r\n--xyz\r\nContent-Disposition: form-data; name="files[0][dest_path]"\r\n\r\n/tmp/a',
  '\r\n--xyz  \r\ncontent-disposition: form-data; filename="\\"name=b\\""; name="files[0][file]"\r\n',
  'Content-Type: text/plain\r\n\r\nline\r\n--xy\r\n-xyz\r\n',
  '\r\n--xyz\r\nContent-Disposition: form-data; name=empty\r\n\r\n',
  '\r\n--xyz--\r\nan epilogue',
].join('')
const PARTS = [
  ['files[0][dest_path]', '/tmp/a'],
  ['files[0][file]', 'line\r\n--xy\r\n-xyz\r\n'],
  ['empty', ''],
]

async function* pieces(text: string, length: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < text.length; at += length) yield Buffer.from(text.slice(at, at + length))
}

async function read(body: AsyncIterable<Buffer>, contentType = CONTENT_TYPE): Promise<string[][]> {
  const parts: string[][] = []
  for await (const part of partsOf(body, contentType)) parts.push([part.name, await readText(part)])
  return parts
}

test('a form is the same, whatever chunks it is in', async () => {
  for (let length = 1; length <= FORM.length; length++) {
    assert.deepEqual(await read(pieces(FORM, length)), PARTS, `pieces of ${length}`)
  }
})

test('a form with another boundary than announced is read by its own boundary', async () => {
  const form = FORM.slice(FORM.indexOf('--xyz'))
  for (const length of [1, 7, 4096]) {
    assert.deepEqual(await read(pieces(form, length), 'multipart/form-data; boundary=other'), PARTS)
  }
  await assert.rejects(read(pieces(FORM, 7), 'multipart/form-data; boundary=other'), { code: 'bad_request' })
})

test('the unread rest of a part is skipped', async () => {
  const names: string[] = []
  for await (const { name } of partsOf(pieces(FORM, 7), CONTENT_TYPE)) names.push(name)
  assert.deepEqual(
    names,
    PARTS.map(([name]) => name),
  )
})

test('a text field that is not known is told from a file', async () => {
  const form = [
    'Content-Disposition: form-data; name="known"\r\n\r\nx',
    'Content-Disposition: form-data; name="newer"\r\nContent-Type: application/json\r\n\r\n{}',
    'Content-Disposition: form-data; name="image"; filename="a.png"\r\n\r\nx',
    "Content-Disposition: form-data; filename*=UTF-8''a.png; name=other\r\n\r\nx",
  ].map((part) => `--xyz\r\n${part}\r\n`)
  const unknown: string[] = []
  for await (const part of partsOf(pieces(`${form.join('')}--xyz--`, 9), CONTENT_TYPE)) {
    if (isUnknownText(part, [/^known$/])) unknown.push(part.name)
  }
  assert.deepEqual(unknown, ['newer'])
})

test('a form that is cut off anywhere is refused', async () => {
  const end = FORM.indexOf('--xyz--') + '--xyz--'.length
  for (let length = 0; length < end; length++) {
    await assert.rejects(
      read(pieces(FORM.slice(0, length), 11)),
      { code: 'bad_request' },
      `of ${length} bytes`,
    )
  }
})

const part = (head: string) => `--xyz\r\n${head}\r\n\r\ncontent\r\n--xyz--\r\n`
const wrong: Record<string, { form?: string; type?: string }> = {
  'no type': { type: '' },
  JSON: { type: 'application/json' },
  'no boundary': { type: 'multipart/form-data' },
  'a long boundary': { type: `multipart/form-data; boundary=${'x'.repeat(300)}` },
  'no name': { form: part('Content-Disposition: form-data') },
  'no head': { form: '--xyz\r\n\r\ncontent\r\n--xyz--' },
  'a head of 20 KB': { form: part(`X: ${'x'.repeat(20_000)}`) },
  'a boundary with more': { form: 'x\r\n--xyzabc\r\n\r\n\r\n--xyz--' },
  'a text of 20 KB': {
    form: `--xyz\r\nContent-Disposition: form-data; name=a\r\n\r\n${'x'.repeat(20_000)}\r\n--xyz--`,
  },
  '3000 parts': {
    form: `${'--xyz\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n'.repeat(3000)}--xyz--`,
  },
}

for (const [what, { form = FORM, type = CONTENT_TYPE }] of Object.entries(wrong)) {
  test(`a form with ${what} is refused`, async () => {
    await assert.rejects(read(pieces(form, 4096), type), { code: 'bad_request' })
  })
}
