// Where Berth is installed. The server runs from its sources or from a bundle in another folder, so a path relative to
// one file would not do.
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The nearest folder above this program that has the packages in it. */
function findRoot(): string {
  let folder = import.meta.dirname
  while (!existsSync(join(folder, 'packages/server/package.json'))) {
    const parent = dirname(folder)
    if (parent === folder)
      throw new Error(`Cannot find the packages of Berth above ${import.meta.dirname}: run npm run setup`)
    folder = parent
  }
  return folder
}

export const installationRoot = findRoot()

/** What the set-up built of a package. */
export const distOf = (name: 'agent' | 'web' | 'server') => join(installationRoot, 'packages', name, 'dist')
