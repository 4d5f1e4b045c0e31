// The paths of an app in its instance.
import { basename, dirname, extname, join } from 'node:path'
import { instancePaths } from '@berth/contracts/link'
import type { Settings } from '../../instance/settings.ts'

const TYPESCRIPT = new Set(['.ts', '.tsx', '.mts', '.cts', '.jsx'])
const JAVASCRIPT = new Set(['.js', '.mjs', '.cjs'])

export interface Places {
  /** Contains all files of the app. */
  readonly root: string
  /** Where Python packages are installed. */
  readonly pythonPackages: string
  readonly nodeRunner: string
  readonly pythonRunner: string
  readonly temporary: string
  readonly home: string
  readonly esbuild: string
}

export function placesIn({ home, temporary }: Settings): Places {
  const root = join(home, 'app')
  return {
    root,
    home,
    temporary,
    pythonPackages: join(root, '.berth-packages'),
    // Not where an invocation could replace them.
    nodeRunner: join(home, '.berth-app-runner.mjs'),
    pythonRunner: join(home, '.berth-app-runner.py'),
    esbuild: instancePaths.esbuild,
  }
}

export function isPython(entrypoint: string): boolean {
  return extname(entrypoint) === '.py'
}

export function isTypeScript(entrypoint: string): boolean {
  return TYPESCRIPT.has(extname(entrypoint))
}

export function isJavaScript(entrypoint: string): boolean {
  return JAVASCRIPT.has(extname(entrypoint))
}

/** The file to import. For TypeScript it is the compiled file, next to the source. */
export function mainOf({ root }: Places, entrypoint: string): string {
  const file = join(root, entrypoint)
  return isTypeScript(entrypoint) ? join(dirname(file), `.berth-${basename(file)}.mjs`) : file
}
