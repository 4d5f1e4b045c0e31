// The one gate: types, lint with folder boundaries, format, generated files, tests.
// `npm run check -- static` stops before the tests; `npm run check -- tests` runs only them.
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const tool = (name: string) => join(root, 'node_modules', '.bin', name)
const node = process.execPath

const LONGEST_TEST_MS = 600_000

const staticSteps = [
  { name: 'types', command: [tool('tsc'), '--project', '.'] },
  { name: 'types of the page', command: [tool('tsc'), '--project', 'packages/live-view'] },
  { name: 'types of the login page', command: [tool('tsc'), '--project', 'packages/hosted-login'] },
  { name: 'types inside login pages', command: [tool('tsc'), '--project', 'packages/agent/src/login/page'] },
  { name: 'lint and boundaries', command: [tool('oxlint'), '--deny-warnings'] },
  { name: 'format', command: [tool('oxfmt'), '--check'] },
  { name: 'generated files', command: [node, 'scripts/generate.ts', '--check'] },
]

function testStep() {
  const files = globSync(['packages/*/src/**/*.test.ts', 'scripts/**/*.test.ts', 'tests/**/*.test.ts'], {
    cwd: root,
  }).toSorted()
  // Two files at a time: every file may start a server, a database and browsers of its own, which is work enough. A
  // test that hangs fails.
  const options = ['--test-concurrency=2', `--test-timeout=${LONGEST_TEST_MS}`]
  return { name: 'tests', command: [node, '--test', ...options, ...files] }
}

const part = process.argv[2]
const steps = [...(part === 'tests' ? [] : staticSteps), ...(part === 'static' ? [] : [testStep()])]
for (const { name, command } of steps) {
  const startedAt = performance.now()
  const [program, ...args] = command as [string, ...string[]]
  const { status } = spawnSync(program, args, { cwd: root, stdio: 'inherit' })
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  if (status !== 0) {
    console.error(`\ncheck: ${name} failed after ${seconds} s`)
    process.exit(1)
  }
  console.log(`check: ${name} ok in ${seconds} s`)
}
