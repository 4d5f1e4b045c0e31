// Builds images without a daemon. What it stores stays between runs, so a second build takes what has not changed.
import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const MAX_OUTPUT = 64 * 1024 * 1024

export class Buildah {
  readonly directory: string
  readonly #store: readonly string[]

  constructor(directory: string) {
    mkdirSync(directory, { recursive: true })
    // The store may be large, so it may be elsewhere. runc takes no links.
    this.directory = realpathSync(directory)
    this.#store = ['--root', join(this.directory, 'root'), '--runroot', join(this.directory, 'run')]
  }

  /** What it prints. */
  run(...args: string[]): string {
    const output = execFileSync('buildah', [...this.#store, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
      maxBuffer: MAX_OUTPUT,
    })
    return output.trim()
  }

  /** What a program prints that runs in a container of the image, while this process goes on. */
  async runIn(image: string, command: readonly string[]): Promise<string> {
    const container = this.run('from', '--pull-never', image)
    try {
      const how = ['run', '--isolation=chroot', '--network=host', container, '--']
      const { stdout } = await promisify(execFile)('buildah', [...this.#store, ...how, ...command])
      return stdout
    } finally {
      this.run('rm', container)
    }
  }

  has(image: string): boolean {
    return spawnSync('buildah', [...this.#store, 'inspect', '--type', 'image', image]).status === 0
  }

  build(context: string, tag: string): void {
    // It takes minutes, so its steps are shown.
    const { status } = this.#build(context, ['--tag', tag], 'inherit')
    if (status !== 0) throw new Error(`buildah cannot build ${tag}, as it says above`)
  }

  /** What a build with this argument says when it fails, which it has to. */
  failureOf(context: string, argument: string): string {
    const { status, stdout, stderr } = this.#build(context, ['--build-arg', argument], 'pipe')
    if (status === 0) throw new Error(`buildah can build with ${argument}`)
    return stdout + stderr
  }

  #build(context: string, args: readonly string[], output: 'inherit' | 'pipe') {
    const how = [
      '--format=docker',
      '--layers',
      '--force-rm',
      '--pull-never',
      '--isolation=chroot',
      '--network=host',
    ]
    return spawnSync(
      'buildah',
      [...this.#store, 'build', ...how, ...this.#npmOfThisMachine(), ...args, context],
      { stdio: ['ignore', output, output], encoding: 'utf8', maxBuffer: MAX_OUTPUT },
    )
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
