// The pages of the documentation, and the packages that their code imports.
import { globSync, mkdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { blocksOf, type Block } from './blocks.ts'

export const root = join(import.meta.dirname, '../..')

export interface Page {
  /** In the repository. */
  readonly path: string
  readonly markdown: string
}

/** Every page for readers. */
export const pages = (): Page[] => read('*.md', 'docs/**/*.md')

/** The README of every folder. */
export const folderPages = (): Page[] =>
  read('packages/*/README.md', 'packages/*/src/**/README.md', '{examples,scripts,tests}/**/README.md')

function read(...patterns: string[]): Page[] {
  const paths = globSync(patterns, { cwd: root }).toSorted()
  return paths.map((path) => ({ path, markdown: readFileSync(join(root, path), 'utf8') }))
}

/** The pages whose code blocks are run. */
export function pagesWithBlocks(): { readonly path: string; readonly blocks: readonly Block[] }[] {
  return pages()
    .filter(({ path }) => path === 'README.md' || path.startsWith('docs/'))
    .map(({ path, markdown }) => ({ path, blocks: blocksOf(path, markdown) }))
}

/** A name for a file or directory. */
export const nameOf = (path: string): string => path.replaceAll(/\W/g, '-')

/** The packages that the pages import, and their folders in node_modules. */
export const PACKAGES = {
  '@onkernel/sdk': 'kernel-sdk-0-84',
  'playwright-core': 'playwright-core',
  standardwebhooks: 'standardwebhooks',
  '@modelcontextprotocol/client': '@modelcontextprotocol/client',
}

/** Links the packages, as if they were installed in the directory. */
export function linkPackages(directory: string): void {
  for (const [name, folder] of Object.entries(PACKAGES)) {
    const place = join(directory, 'node_modules', name)
    mkdirSync(dirname(place), { recursive: true })
    symlinkSync(realpathSync(join(root, 'node_modules', folder)), place)
  }
}
