// npm run test:image: builds the image with buildah and runs it with runc. It takes minutes, root, and Debian's and npm's
// packages, so no other command runs it.
import assert from 'node:assert/strict'
import { chownSync, existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { tempDir } from '../fixtures/server.ts'
import { DEBIAN, makeBases } from './bases.ts'
import { Buildah } from './buildah.ts'
import { Container, type ImageConfig } from './container.ts'
import { PRIVILEGES } from './privileges.ts'
import { startSnapshots } from './snapshots.ts'

const root = join(import.meta.dirname, '../..')
const IMAGE = 'localhost/berth:test'
const ACCOUNT = 10_001
const key = 'key-of-the-tests-of-the-image'
const SECCOMP = join(root, 'deploy/seccomp/berth-instance.json')

const buildah = new Buildah(join(root, '.cache/image'))
makeBases(buildah, root)
buildah.build(root, IMAGE)
const working = buildah.run('from', '--pull-never', IMAGE)
const rootfs = buildah.run('mount', working)
after(() => {
  buildah.run('umount', working)
  buildah.run('rm', working)
})

const { config: image } = (
  JSON.parse(buildah.run('inspect', '--type', 'image', IMAGE)) as { Docker: { config: ImageConfig } }
).Docker

test('the image is not root, has a health check, and says what it is', () => {
  const { User, Healthcheck, Labels, Env } = image
  assert.equal(User, `${ACCOUNT}:${ACCOUNT}`)
  assert.deepEqual(Healthcheck.Test, ['CMD', 'berth', 'health'])
  assert.equal(Labels['org.opencontainers.image.title'], 'Berth')
  assert.deepEqual(
    Env.filter((entry) => /key|password|secret|token/i.test(entry)),
    [],
  )
})

test('the image has no tools of the build, no caches and no program that makes somebody root', () => {
  for (const path of ['usr/bin/gcc', 'usr/bin/make', 'root/.npm', 'opt/berth/node_modules/typescript']) {
    assert.equal(existsSync(join(rootfs, path)), false, path)
  }
  assert.deepEqual(readdirSync(join(rootfs, 'var/lib/apt/lists')), [])
  assert.deepEqual(globSync('opt/berth/**/*.{ts,map}', { cwd: rootfs }), [])
  assert.ok(existsSync(join(rootfs, 'usr/share/doc/chromium/changelog.Debian.gz')), 'how old Chromium is')
  const packages = readFileSync(join(rootfs, 'var/lib/dpkg/status'), 'utf8')
  assert.doesNotMatch(packages, /^Package: (gcc|make|systemd)$/m)
})

test('the build arguments of a snapshot reach the script, which ends the build when one is missing', () => {
  assert.match(buildah.failureOf(root, 'DEBIAN_SNAPSHOT=20261101T000000Z'), /set DEBIAN_ARCHIVE too/)
  assert.match(buildah.failureOf(root, 'DEBIAN_ARCHIVE=http://archive.example'), /set DEBIAN_SNAPSHOT too/)
})

test('with an archive and a time, every package of Debian comes from that snapshot', async (t) => {
  const { archive, asked } = await startSnapshots(t)
  const settings = `DEBIAN_ARCHIVE=${archive} DEBIAN_SNAPSHOT=20261101T000000Z`
  const script = readFileSync(join(root, 'scripts/image/sources.sh'), 'utf8')
  const output = await buildah.runIn(DEBIAN, [
    'sh',
    '-euc',
    `${settings} sh -c "$1" sources.sh /etc/apt
    apt-get update -qq && apt-get install -y -qq --no-install-recommends tini >&2
    apt-get install --print-uris -qq --no-install-recommends chromium`,
    'sh',
    script,
  ])
  const addresses = [...output.matchAll(/^'(http[^']*)'/gm)].map(([, address]) => address!)
  assert.ok(addresses.length > 50, output)
  const elsewhere = addresses.filter((address) => !address.startsWith(`${archive}/debian`))
  assert.deepEqual(elsewhere, [])
  assert.ok(
    asked.some((path) => /^\/debian\/20261101T000000Z\/pool\/.*\/tini_/.test(path)),
    String(asked),
  )
  assert.ok(
    asked.some((path) => path.startsWith('/debian-security/20261101T000000Z/dists/')),
    String(asked),
  )
})

test('as an ordinary user without any privilege the server runs on a read-only file system', async (t) => {
  const data = tempDir(t)
  chownSync(data, ACCOUNT, ACCOUNT)
  const container = Container.start(t, {
    image,
    rootfs,
    data,
    uid: ACCOUNT,
    hasWholeProc: false,
    seccomp: SECCOMP,
    capabilities: [],
    env: { BERTH_API_KEY: key },
  })
  await container.becomesHealthy()
  await container.says(/no browser sessions on this host/)
  await container.says(/start the container with the options that docs\/install\.md names/)
  assert.match(container.exec('berth', 'admin', 'mint-key'), /^sk_/)
  assert.match(container.exec('berth', '--help'), /Usage: berth /)
  // Otherwise every browser would look at all fonts when it starts.
  assert.doesNotMatch(container.exec('fc-cache', '--system-only', '--verbose'), /caching, new cache contents/)
  assert.equal(await container.stop('SIGTERM'), 0)
})

test('with the privileges that the documentation names, sessions work and nothing is missing', async (t) => {
  const data = tempDir(t)
  const options = {
    image,
    rootfs,
    data,
    uid: 0,
    hasWholeProc: true,
    seccomp: SECCOMP,
    capabilities: PRIVILEGES,
    env: { BERTH_API_KEY: key },
  }
  const container = Container.start(t, options)
  await container.becomesHealthy()
  const found: unknown = JSON.parse(
    container.runBeside(join(import.meta.dirname, 'session.ts'), 'http://127.0.0.1:8080', key),
  )
  assert.deepEqual(found, [
    { headless: true, title: 'Berth', user: 'kernel' },
    { headless: false, title: 'Berth', user: 'kernel' },
  ])
  assert.equal(await container.stop('SIGINT'), 0)
  const warnings = container.output
    .split('\n')
    .filter((line) => /"level":(40|50|60|"warn"|"error")/.test(line))
  assert.deepEqual(warnings, [])
  assert.doesNotMatch(container.output, /through a proxy only/)

  const again = Container.start(t, options)
  await again.becomesHealthy()
  assert.equal(await again.stop('SIGTERM'), 0)
})
