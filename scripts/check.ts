// Runs the quick checks: types, lint with folder boundaries, format, generated files, unit tests.
// `npm run check -- static` stops before the tests. `npm test` begins with the same static checks.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const tool = (name: string) => join(root, 'node_modules', '.bin', name)
const node = process.execPath

const staticSteps = [
  { name: 'types', command: [tool('tsc'), '--project', '.'] },
  { name: 'types of the web pages', command: [tool('tsc'), '--project', 'packages/web'] },
  { name: 'types inside login pages', command: [tool('tsc'), '--project', 'packages/agent/src/login/page'] },
  { name: 'lint and boundaries', command: [tool('oxlint'), '--deny-warnings'] },
  { name: 'format', command: [tool('oxfmt'), '--check'] },
  { name: 'generated files', command: [node, 'scripts/generate.ts', '--check'] },
]

const unitTests = { name: 'unit tests', command: [node, 'scripts/test/main.ts', 'unit'] }

const part = process.argv[2]
const steps = part === 'static' ? staticSteps : [...staticSteps, unitTests]
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
