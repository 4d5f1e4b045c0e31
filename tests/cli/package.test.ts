// The package as it could be published: packed, installed into an empty directory without a registry, and run.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { sharedServer } from '../fixtures/shared-server.ts'
import { tempDir } from '../fixtures/server.ts'

const owner = { after }
const root = join(import.meta.dirname, '../..')
const server = await sharedServer(owner)
const directory = tempDir(owner)
const offline = ['--offline', '--no-audit', '--no-fund', '--loglevel=error']

const npm = (cwd: string, ...args: string[]) => execFileSync('npm', args, { cwd, encoding: 'utf8' })
const berth = (...args: string[]) =>
  execFileSync(join(directory, 'empty/node_modules/.bin/berth'), args, {
    cwd: join(directory, 'empty'),
    encoding: 'utf8',
    env: {
      PATH: process.env['PATH'],
      HOME: directory,
      KERNEL_BASE_URL: server.url,
      KERNEL_API_KEY: server.key,
    },
  })

test('npm pack makes a package that installs and runs in an empty directory', () => {
  // A copy, so that packing does not build into the repository while other tests use it.
  const copy = join(directory, 'repository')
  mkdirSync(join(copy, 'packages'), { recursive: true })
  for (const name of ['cli', 'codecs', 'contracts', 'kit'])
    cpSync(join(root, 'packages', name), join(copy, 'packages', name), { recursive: true })
  mkdirSync(join(copy, 'scripts/lib'), { recursive: true })
  cpSync(join(root, 'scripts/lib/system-packages.json'), join(copy, 'scripts/lib/system-packages.json'))
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  const [packed] = JSON.parse(
    npm(join(copy, 'packages/cli'), 'pack', '--json', '--pack-destination', directory),
  ) as [{ filename: string; files: { path: string }[]; size: number }]
  const paths = packed.files.map(({ path }) => path)
  assert.ok(
    paths.includes('dist/main.mjs') && paths.includes('templates/python/hello/gitignore'),
    paths.join('\n'),
  )
  assert.ok(!paths.some((path) => path.startsWith('src/')), 'no sources')
  assert.ok(packed.size < 1_000_000, String(packed.size))

  const empty = join(directory, 'empty')
  mkdirSync(empty)
  writeFileSync(join(empty, 'package.json'), '{}')
  npm(empty, 'install', ...offline, join(directory, packed.filename))
  const { version } = JSON.parse(readFileSync(join(root, 'packages/cli/package.json'), 'utf8')) as {
    version: string
  }
  assert.equal(berth('--version').trim(), version)
  assert.match(berth('--help'), /Browsers:/)
  assert.ok(Array.isArray(JSON.parse(berth('projects', 'list', '-o', 'json'))))
  berth('create', 'app', '-l', 'ts', '-t', 'crawl')
  assert.match(readFileSync(join(empty, 'app/index.ts'), 'utf8'), /kernel\.app\('app'\)/)
})
