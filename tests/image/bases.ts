// The two images that the Dockerfile begins with, made of Debian's and npm's packages: the tests ask no registry of images.
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Buildah } from './buildah.ts'

export const DEBIAN = 'docker.io/library/debian:12-slim'
export const NODE = 'docker.io/library/node:24-bookworm-slim'

/** Makes those that the store lacks. */
export function makeBases(buildah: Buildah, root: string): void {
  if (!buildah.has(DEBIAN)) makeDebian(buildah)
  if (!buildah.has(NODE)) makeNode(buildah, root)
}

function makeDebian(buildah: Buildah): void {
  const directory = mkdtempSync(join(buildah.directory, 'debian-'))
  try {
    const archive = join(directory, 'debian.tar')
    const leftOut = ['man', 'doc', 'locale'].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`)
    const sources = join('/etc/apt/sources.list.d', 'debian.sources')
    execFileSync(
      'mmdebstrap',
      [
        '--quiet',
        '--variant=minbase',
        '--include=ca-certificates',
        ...leftOut,
        'bookworm',
        archive,
        ...(existsSync(sources) ? [sources] : []),
      ],
      { stdio: ['ignore', 'ignore', 'inherit'] },
    )
    const container = buildah.run('from', 'scratch')
    buildah.run('add', '--quiet', container, archive, '/')
    buildah.run(
      'config',
      '--env',
      'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      container,
    )
    buildah.run('commit', '--quiet', '--rm', container, DEBIAN)
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** With the Node that runs the tests, and the npm of this machine. */
function makeNode(buildah: Buildah, root: string): void {
  const directory = mkdtempSync(join(buildah.directory, 'node-'))
  try {
    const local = join(directory, 'usr/local')
    for (const name of ['bin', 'lib/node_modules']) mkdirSync(join(local, name), { recursive: true })
    cpSync(process.execPath, join(local, 'bin/node'))
    execFileSync('npm', ['pack', '--silent', 'npm@11', '--pack-destination', directory], { cwd: root })
    const archive = readdirSync(directory).find((name) => name.endsWith('.tgz'))!
    execFileSync('tar', ['--extract', '--file', archive], { cwd: directory })
    renameSync(join(directory, 'package'), join(local, 'lib/node_modules/npm'))
    for (const name of ['npm', 'npx']) {
      symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(local, 'bin', name))
    }
    const container = buildah.run('from', '--pull-never', DEBIAN)
    buildah.run('add', '--quiet', container, join(directory, 'usr'), '/usr')
    buildah.run('commit', '--quiet', '--rm', container, NODE)
  } finally {
    rmSync(directory, { recursive: true })
  }
}
