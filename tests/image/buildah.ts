// Builds images without a daemon. What it stores stays between runs, so a second build takes what has not changed.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export class Buildah {
  readonly directory: string
  readonly #store: readonly string[]

  constructor(directory: string) {
    mkdirSync(directory, { recursive: true })
    this.directory = directory
    this.#store = ['--root', join(directory, 'root'), '--runroot', join(directory, 'run')]
  }

  /** What it prints. */
  run(...args: string[]): string {
    const output = execFileSync('buildah', [...this.#store, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
      maxBuffer: 64 * 1024 * 1024,
    })
    return output.trim()
  }

  has(image: string): boolean {
    return spawnSync('buildah', [...this.#store, 'inspect', '--type', 'image', image]).status === 0
  }

  build(context: string, tag: string): void {
    const how = ['--format=docker', '--layers', '--pull-never', '--isolation=chroot', '--network=host']
    this.run('build', ...how, ...this.#npmOfThisMachine(), '--tag', tag, context)
  }

  /** The build takes packages from where this machine takes them. */
  #npmOfThisMachine(): string[] {
    const registry = npmSetting('registry')
    const authorities = npmSetting('cafile') ?? process.env['NODE_EXTRA_CA_CERTS']
    const inside = '/run/npm-authorities.crt'
    const npmrc = join(this.directory, 'npmrc')
    const lines = [
      ...(registry === undefined ? [] : [`registry=${registry}`]),
      ...(authorities === undefined ? [] : [`cafile=${inside}`]),
    ]
    writeFileSync(npmrc, `${lines.join('\n')}\n`)
    const settings = `--volume=${npmrc}:/usr/local/etc/npmrc:ro`
    return authorities === undefined ? [settings] : [settings, `--volume=${authorities}:${inside}:ro`]
  }
}

function npmSetting(name: string): string | undefined {
  const value = execFileSync('npm', ['config', 'get', name], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim()
  return ['null', 'undefined', ''].includes(value) ? undefined : value
}
