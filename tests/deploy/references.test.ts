// The files of deploy/ and the Dockerfile name settings, files and programs of this repository. What they name exists, so
// a rename cannot break them unseen. The settings that the chart writes are in chart.test.ts.
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadConfig } from '@berth/server/config/config'
import { settings } from '@berth/server/config/settings/settings'

const root = join(import.meta.dirname, '../..')
const textOf = (path: string) => readFileSync(join(root, path), 'utf8')
const all = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, found]) => found!)
const missing = (paths: readonly string[]) => paths.filter((path) => !existsSync(join(root, path)))

const deployed = globSync('deploy/**', { cwd: root, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
const dockerfile = textOf('Dockerfile')
const compose = textOf('deploy/compose/compose.yaml')
const unit = textOf('deploy/systemd/berth.service')
const page = textOf('docs/install.md')

test('every setting that a file of deploy/ or the Dockerfile names exists', () => {
  const named = ['Dockerfile', ...deployed].flatMap((path) =>
    all(textOf(path), /\b(BERTH_[A-Z0-9_]*[A-Z0-9])\b/g).map((name) => ({ path, name })),
  )
  assert.ok(new Set(named.map(({ path }) => path)).size > 5, JSON.stringify(named))
  assert.deepEqual(
    named.filter(({ name }) => !(name in settings)),
    [],
  )
})

test('the server can start with the settings of the image', () => {
  const [line = ''] = all(dockerfile, /^ENV (.*)$/gm)
  const env = Object.fromEntries(
    // The argument of the build is empty by default.
    line.split(' ').map((pair) => pair.replace(/\$\{\w+\}/, '').split('=') as [string, string]),
  )
  assert.deepEqual(Object.keys(env), ['BERTH_DATA_DIR', 'BERTH_HOST', 'BERTH_PLAYWRIGHT_VERSIONS'])
  const config = loadConfig(env)
  assert.ok(dockerfile.includes(`VOLUME ${config.BERTH_DATA_DIR}\n`))
  assert.ok(dockerfile.includes(`EXPOSE ${config.BERTH_PORT}\n`))
})

test('the Dockerfile copies only files that exist and that its context has', () => {
  const copied = all(dockerfile, /^COPY (?!--from)(.*) \S+$/gm).flatMap((paths) => paths.split(' '))
  assert.ok(copied.length > 15, String(copied.length))
  assert.deepEqual(missing(copied), [])
  const context = all(textOf('.dockerignore'), /^!(\S+)$/gm)
  assert.deepEqual(
    copied.filter(
      (path) => !context.some((each) => `${path}/`.startsWith(`${each}/`) || each.startsWith(`${path}/`)),
    ),
    [],
  )
  assert.deepEqual(missing(context), [])
})

test('the programs and files that the image names by their place are put there', () => {
  const scripts = ['deploy/image/berth', 'scripts/image/install.sh', 'packages/server/bin/berth-pod'].map(
    textOf,
  )
  const bundles = scripts.flatMap((text) => all(text, /(?:\/|\$)dist\/([\w-]+)\.mjs/g))
  assert.deepEqual(bundles.toSorted(), ['admin', 'main', 'pod-freezer', 'pod-instance', 'pod-link'])
  assert.deepEqual(missing(bundles.map((name) => `packages/server/src/${name}.ts`)), [])
  const ours = scripts.flatMap((text) => all(text, /(?:\$root|\/opt\/berth)\/([\w./-]+)/g))
  const kept = ours.filter((path) => !path.includes('/dist/'))
  assert.ok(kept.length > 2, String(kept))
  assert.deepEqual(missing(kept), [])
})

test('the files that the compose file names are where it says', () => {
  const base = 'deploy/compose'
  const [context = ''] = all(compose, /^ +build: (\S+)$/gm)
  const [profile = ''] = all(compose, /seccomp=(\S+)$/gm)
  assert.deepEqual(missing([join(base, context, 'Dockerfile'), join(base, profile)]), [])
  assert.equal(join(base, profile), 'deploy/seccomp/berth-instance.json')
  // People write this one themselves, by the page.
  const [settingsFile = ''] = all(compose, /^ +- path: (\S+)$/gm)
  assert.match(compose, /required: false/)
  assert.ok(page.includes(`\`${join(base, settingsFile)}\``))
})

test('the unit starts what npm start runs, in the places that the page names', () => {
  const [command = ''] = all(unit, /^ExecStart=\/usr\/bin\/env (.*)$/gm)
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> }
  assert.equal(scripts['start'], `exec ${command}`)
  const [directory = ''] = all(unit, /^WorkingDirectory=(\S+)$/gm)
  assert.ok(page.includes(` ${directory}\n`), directory)
  const [variables = ''] = all(unit, /^EnvironmentFile=-(\S+)$/gm)
  assert.ok(page.includes(` ${variables}\n`), variables)
})

test('the paths of the repository that docs/install.md and deploy/README.md name exist', () => {
  const named = all(page, /\b((?:deploy|scripts)\/[\w./-]*\w)/g).filter((path) => !path.endsWith('.env'))
  const folders = all(textOf('deploy/README.md'), /^\| `([\w/]+)`/gm).map((name) => `deploy/${name}`)
  assert.ok(named.length > 3 && folders.length > 3)
  assert.deepEqual(missing([...named, ...folders]), [])
})
