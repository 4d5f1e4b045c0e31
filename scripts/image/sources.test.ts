import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'

const script = join(import.meta.dirname, 'sources.sh')
const snapshot = { DEBIAN_ARCHIVE: 'http://archive.example/all', DEBIAN_SNAPSHOT: '20261101T000000Z' }

/** As the base image has it. */
function aptDirectory(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'berth-test-apt-'))
  t.after(() => rmSync(directory, { recursive: true }))
  mkdirSync(join(directory, 'sources.list.d'))
  writeFileSync(join(directory, 'sources.list.d/debian.sources'), 'Types: deb\n')
  return directory
}

function run(directory: string, env: Record<string, string>): { status: number | null; stderr: string } {
  return spawnSync('sh', [script, directory], {
    env: { PATH: process.env['PATH'], ...env },
    encoding: 'utf8',
  })
}

test('without a snapshot, the sources stay those of the base image', (t) => {
  const directory = aptDirectory(t)
  assert.equal(run(directory, {}).status, 0)
  // As the Dockerfile has them by default.
  assert.equal(run(directory, { DEBIAN_ARCHIVE: '', DEBIAN_SNAPSHOT: '' }).status, 0)
  assert.deepEqual(filesIn(directory), ['sources.list.d', 'sources.list.d/debian.sources'])
})

for (const archive of [snapshot.DEBIAN_ARCHIVE, `${snapshot.DEBIAN_ARCHIVE}/`]) {
  test(`with a snapshot, apt takes everything from it, also after its lists expired (${archive})`, (t) => {
    const directory = aptDirectory(t)
    assert.equal(run(directory, { ...snapshot, DEBIAN_ARCHIVE: archive }).status, 0)
    assert.deepEqual(filesIn(directory), ['sources.list', 'sources.list.d'])
    const lines = readFileSync(join(directory, 'sources.list'), 'utf8').trim().split('\n')
    for (const line of lines) assert.match(line, /check-valid-until=no/)
    assert.deepEqual(releasesThatAptAsksFor(directory), [
      'http://archive.example/all/debian/20261101T000000Z/dists/bookworm',
      'http://archive.example/all/debian/20261101T000000Z/dists/bookworm-updates',
      'http://archive.example/all/debian-security/20261101T000000Z/dists/bookworm-security',
    ])
  })
}

const refused: readonly (readonly [why: string, env: Record<string, string>, says: RegExp])[] = [
  ['no archive', { DEBIAN_SNAPSHOT: snapshot.DEBIAN_SNAPSHOT }, /set DEBIAN_ARCHIVE too/],
  ['no time', { DEBIAN_ARCHIVE: snapshot.DEBIAN_ARCHIVE }, /set DEBIAN_SNAPSHOT too/],
  ['a date only', { ...snapshot, DEBIAN_SNAPSHOT: '2026-11-01' }, /DEBIAN_SNAPSHOT is "2026-11-01"/],
  ['more than a time', { ...snapshot, DEBIAN_SNAPSHOT: '20261101T000000Z/x' }, /DEBIAN_SNAPSHOT is/],
]
for (const [why, env, says] of refused) {
  test(`half a snapshot ends the build, and changes nothing: ${why}`, (t) => {
    const directory = aptDirectory(t)
    const { status, stderr } = run(directory, env)
    assert.equal(status, 1)
    assert.match(stderr, says)
    assert.deepEqual(filesIn(directory), ['sources.list.d', 'sources.list.d/debian.sources'])
  })
}

const filesIn = (directory: string) => globSync('**/*', { cwd: directory }).toSorted()

/** As the apt of this machine reads the files, without asking anybody. */
function releasesThatAptAsksFor(directory: string): string[] {
  const places = [
    `Dir::Etc::sourcelist=${directory}/sources.list`,
    `Dir::Etc::sourceparts=${directory}/sources.list.d`,
  ]
  const uris = execFileSync(
    'apt-get',
    ['update', '--print-uris', ...places.map((place) => `--option=${place}`)],
    { encoding: 'utf8' },
  )
  return [...uris.matchAll(/^'(.*)\/InRelease'/gm)].map(([, release]) => release!)
}
