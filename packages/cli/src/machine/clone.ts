// The clone of the repository that this program is in, or that the current directory is in.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { usage } from '../basics/failure.ts'

export function findClone(given: string | undefined): string | undefined {
  if (given !== undefined) {
    const root = resolve(given)
    if (isClone(root)) return root
    throw usage(`Cannot use ${root}: it is no clone of Berth`, 'Name the directory with scripts/run.mjs')
  }
  return above(process.cwd()) ?? above(dirname(fileURLToPath(import.meta.url)))
}

function above(from: string): string | undefined {
  for (let at = from; ; at = dirname(at)) {
    if (isClone(at)) return at
    if (at === dirname(at)) return undefined
  }
}

function isClone(directory: string): boolean {
  if (!existsSync(join(directory, 'scripts/run.mjs'))) return false
  try {
    const { name } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as { name?: string }
    return name === 'berth'
  } catch {
    return false
  }
}
