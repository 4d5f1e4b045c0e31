// Archives of images, in the format that `docker save` writes and every container engine reads.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeBases } from '../../tests/image/bases.ts'
import { Buildah } from '../../tests/image/buildah.ts'
import { run } from './commands.ts'

export interface ImageArchive {
  readonly file: string
  readonly name: string
}

export const PAUSE = 'localhost/pause:1'
const BERTH = 'localhost/berth:test'

/** The first name in an archive. */
export function archiveAt(file: string): ImageArchive {
  const [image] = JSON.parse(run(['tar', '--extract', '--to-stdout', '--file', file, 'manifest.json'])) as {
    RepoTags?: string[]
  }[]
  const name = image?.RepoTags?.[0]
  if (name === undefined)
    throw new Error(`Cannot use the image in ${file}: it has no name; save it by its name`)
  return { file, name }
}

/** Builds the image of this checkout, and writes it to a file unless it is there already. */
export function buildBerth(root: string, cache: string): ImageArchive {
  const buildah = new Buildah(join(root, '.cache/image'))
  makeBases(buildah, root)
  console.error('kubernetes: building the image of Berth')
  buildah.build(root, BERTH)
  const id = buildah.run('images', '--quiet', '--no-trunc', BERTH).replace('sha256:', '').slice(0, 16)
  const directory = join(cache, 'images')
  const file = join(directory, `berth-${id}.tar`)
  if (existsSync(file)) return { file, name: BERTH }
  mkdirSync(directory, { recursive: true })
  for (const old of readdirSync(directory)) rmSync(join(directory, old))
  buildah.run('push', '--quiet', BERTH, `docker-archive:${file}.new:${BERTH}`)
  renameSync(`${file}.new`, file)
  return { file, name: BERTH }
}

/** The image of the first container in each Pod: one program that waits. */
export function pauseImage(program: string, directory: string): ImageArchive {
  mkdirSync(directory, { recursive: true })
  const layer = join(directory, 'layer.tar')
  run(['tar', '--create', '--file', layer, '--directory', join(program, '..'), 'pause'])
  const config = {
    architecture: run(['dpkg', '--print-architecture']).trim(),
    os: 'linux',
    config: { Entrypoint: ['/pause'] },
    rootfs: { type: 'layers', diff_ids: [`sha256:${hashOf(layer)}`] },
  }
  writeFileSync(join(directory, 'config.json'), JSON.stringify(config))
  const manifest = [{ Config: 'config.json', RepoTags: [PAUSE], Layers: ['layer.tar'] }]
  writeFileSync(join(directory, 'manifest.json'), JSON.stringify(manifest))
  const file = join(directory, 'pause.tar')
  run([
    'tar',
    '--create',
    '--file',
    file,
    '--directory',
    directory,
    'manifest.json',
    'config.json',
    'layer.tar',
  ])
  return { file, name: PAUSE }
}

const hashOf = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex')
