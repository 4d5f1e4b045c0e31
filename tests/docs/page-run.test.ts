// Running a page reports every block that does not do what the page says.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { blocksOf } from './blocks.ts'
import { PageRun } from './page-run.ts'

const fence = (info: string, code: string) => `\`\`\`${info}\n${code}\n\`\`\`\n`

const standIn = (code: string) => code.replaceAll('shown.example', 'real.example')

/** Runs a page with these parts and returns what went wrong. */
async function problemOf(t: TestContext, ...parts: string[]): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'berth-page-'))
  const blocks = blocksOf('page.md', parts.join('\n'))
  const env = { PATH: process.env['PATH'] ?? '' }
  const run = new PageRun(blocks, { directory, clone: '/', env, standIn })
  t.after(() => {
    run.stop()
    rmSync(directory, { recursive: true })
  })
  try {
    for (const block of blocks) await run.run(block)
    return ''
  } catch (error) {
    return (error as Error).message
  }
}

test('blocks share their variables and can read the files of earlier blocks', async (t) => {
  const problem = await problemOf(
    t,
    fence('json file=a.json', '{"site":"shown.example"}'),
    fence('sh run', 'name=$(cat a.json)'),
    '<!-- check: test -n "$name" -->',
    fence(
      'ts run',
      "import { readFileSync } from 'node:fs'\nconst text: string = readFileSync('a.json', 'utf8')",
    ),
    '<!-- check: text.length > 0 -->',
    fence('ts run', 'console.log(JSON.parse(text).site)'),
    fence('text output', 'shown.example'),
    fence('sh run clone', 'pwd'),
    fence('text output', '/'),
    fence('sh run', 'echo "$name"'),
    fence('text output', '{"site":…}'),
  )
  assert.equal(problem, '')
})

test('a different output, a false check and a failure are reported', async (t) => {
  const cases: [string[], RegExp][] = [
    [
      [fence('sh run', 'echo one'), fence('text output', 'two')],
      /page\.md:1 printed[^]*one[^]*instead of[^]*two/,
    ],
    [[fence('ts run', 'console.log(1)'), fence('text output', '2')], /page\.md:1 printed/],
    [[fence('sh run', 'true'), '<!-- check: false && true -->'], /page\.md:1 ended with 1/],
    [[fence('ts run', 'const a = 1'), '<!-- check: a === 2 -->'], /not so: a === 2/],
    [[fence('sh run', 'false\necho on'), fence('text output', 'on')], /page\.md:1 ended with 1/],
    [[fence('sh run clone', 'false\necho on'), fence('text output', 'on')], /page\.md:1 ended with 1/],
    [[fence('sh run', 'curl http://127.0.0.1:1/'), '<!-- check: true -->'], /page\.md:1 ended with 7/],
    [[fence('ts run', "throw new Error('no')"), fence('text output', '')], /page\.md:1 ended with 1[^]*no/],
  ]
  for (const [parts, problem] of cases) assert.match(await problemOf(t, ...parts), problem)
})
