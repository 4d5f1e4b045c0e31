import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '../..')

export interface Page {
  /** In the repository. */
  readonly path: string
  readonly markdown: string
}

/** Every page for readers. */
export const pages = (): Page[] => read('*.md', 'docs/**/*.md')

/** What a folder says about itself. */
export const folderPages = (): Page[] =>
  read('packages/*/README.md', 'packages/*/src/**/README.md', '{scripts,tests}/**/README.md')

function read(...patterns: string[]): Page[] {
  const paths = globSync(patterns, { cwd: root }).toSorted()
  return paths.map((path) => ({ path, markdown: readFileSync(join(root, path), 'utf8') }))
}
