// Reading the code blocks of a page.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { blocksOf, isPrinted } from './blocks.ts'

const fence = (info: string, code: string) => `\`\`\`${info}\n${code}\n\`\`\`\n`

test('a block is read with its output or its check', () => {
  const page = `# Page\n\n${fence('ts run', 'console.log(1)')}\n${fence('text output', '1')}\n${fence('sh run clone', 'true')}\n<!-- check: test -d . -->\n`
  const [first, second] = blocksOf('page.md', page)
  assert.deepEqual(first, {
    at: 'page.md:3',
    language: 'ts',
    kind: 'run',
    code: 'console.log(1)',
    runsInClone: false,
    output: '1',
  })
  assert.equal(second!.check, 'test -d .')
  assert.equal(second!.runsInClone, true)
})

test('a block in a list item loses the indent of its item', () => {
  const [block] = blocksOf('page.md', '1. First:\n\n   ```sh start\n   npm start\n     more\n   ```\n')
  assert.equal(block!.code, 'npm start\n  more')
})

test('a block without its kind is refused', () => {
  for (const info of ['ts', '', 'python run', 'sh', 'ts run clone', 'sh walk', 'json file=a b']) {
    assert.throws(
      () => blocksOf('page.md', fence(info, 'x')),
      /page\.md:1: a block of .* must say what it is/,
    )
  }
})

test('a block that could not fail is refused', () => {
  assert.throws(() => blocksOf('page.md', fence('sh run', 'true')), /nothing tells whether the block worked/)
})

test('an output or a check without its block is refused', () => {
  assert.throws(() => blocksOf('page.md', fence('text output', '1')), /no block above/)
  assert.throws(() => blocksOf('page.md', '<!-- check: 1 -->'), /no block above/)
  const twice = `${fence('sh run', 'true')}<!-- check: true -->\n<!-- check: true -->\n`
  assert.throws(() => blocksOf('page.md', twice), /already/)
})

test('a block without its end is refused', () => {
  assert.throws(() => blocksOf('page.md', '```sh run\ntrue\n'), /does not end/)
})

test('an output is compared as a whole, and … stands for anything', () => {
  assert.ok(isPrinted('id … is ready\n', 'id 42 is ready'))
  assert.ok(isPrinted('a.b', 'a.b\n'))
  assert.ok(!isPrinted('a.b', 'axb'))
  assert.ok(!isPrinted('ready', 'not ready'))
  assert.ok(!isPrinted('ready', 'ready\nand more'))
})
