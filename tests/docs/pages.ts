import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '../..')

/** Every page for readers, by its path in the repository. */
export function pages(): { readonly path: string; readonly markdown: string }[] {
  const paths = [...globSync('*.md', { cwd: root }), ...globSync('docs/**/*.md', { cwd: root })].toSorted()
  return paths.map((path) => ({ path, markdown: readFileSync(join(root, path), 'utf8') }))
}
