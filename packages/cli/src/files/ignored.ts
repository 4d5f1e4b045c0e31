// What git leaves out of a directory: .gitignore and .ignore at every level, those of the levels above up to the root of
// the repository, and .git itself.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import ignore, { type Ignore } from 'ignore'

export interface Rules {
  /** The directory that its patterns are about. */
  readonly base: string
  readonly patterns: Ignore
}

const FILES = ['.gitignore', '.ignore']

/** The rules that hold in a directory before its own. */
export function rulesAbove(directory: string): Rules[] {
  const root = repositoryOf(directory)
  if (root === undefined) return []
  const found: Rules[] = []
  const exclude = join(root, '.git', 'info', 'exclude')
  if (existsSync(exclude)) found.push({ base: root, patterns: ignore().add(readFileSync(exclude, 'utf8')) })
  const first = found.length
  for (let at = directory; at !== root;) {
    at = dirname(at)
    found.splice(first, 0, ...rulesIn(at))
  }
  return found
}

export function rulesIn(directory: string): Rules[] {
  const texts = FILES.map((name) => join(directory, name))
    .filter((path) => existsSync(path))
    .map((path) => readFileSync(path, 'utf8'))
  return texts.length === 0 ? [] : [{ base: directory, patterns: ignore().add(texts.join('\n')) }]
}

function repositoryOf(directory: string): string | undefined {
  for (let at = directory; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at
    if (at === dirname(at)) return undefined
  }
}

/** The last rule that says something wins, and rules of deeper directories come later. */
export function isIgnored(
  rules: readonly Rules[],
  path: string,
  { isDirectory }: { isDirectory: boolean },
): boolean {
  let ignored = false
  for (const { base, patterns } of rules) {
    const name = relative(base, path).split(sep).join('/')
    const verdict = patterns.test(isDirectory ? `${name}/` : name)
    if (verdict.ignored) ignored = true
    else if (verdict.unignored) ignored = false
  }
  return ignored
}
