// This machine's npm, with which apps are built.
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Where the server looks for it too; see packages/server/src/instances/local/programs.ts. */
const directories = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin']

/** Undefined when it is not below /usr. Debian's own npm is spread over many packages, so it comes by its package. */
export function findNpm() {
  const link = directories.map((directory) => join(directory, 'npm')).find((path) => existsSync(path))
  if (link === undefined) return undefined
  const program = realpathSync(link)
  if (!program.startsWith('/usr/')) return undefined
  if (program.startsWith('/usr/share/nodejs/')) return { package: 'npm' }
  let directory = dirname(program)
  while (!existsSync(join(directory, 'package.json'))) {
    directory = dirname(directory)
    if (directory === '/usr') return undefined
  }
  return { directory, version: JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')).version }
}
