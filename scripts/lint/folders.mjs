// A lint rule: which folder may import which. The table is in .oxlintrc.json, one row for each folder. This is plain
// JavaScript, because the linter loads it with the machine's own Node.
import { dirname, join, relative, resolve } from 'node:path'

const repository = resolve(import.meta.dirname, '../..')

/** The row of a file. If several rows contain the file, the longest path wins. */
export function rowOf(table, file) {
  let found
  for (const path of Object.keys(table)) {
    const isInside = file === path || file.startsWith(`${path}/`)
    if (isInside && (found === undefined || path.length > found.length)) found = path
  }
  return found
}

/** Where an import leads, as a path below packages/; undefined when it is not ours. */
export function targetOf(file, specifier) {
  if (specifier.startsWith('.')) return join(dirname(file), specifier)
  const [, name, rest] = /^@berth\/([^/]+)\/(.+)$/.exec(specifier) ?? []
  return name === undefined ? undefined : `${name}/src/${rest}.ts`
}

/** Replaces every group in the table with the rows of the group. */
export function expand({ table, groups = {} }) {
  const listed = (entry) => (Object.hasOwn(groups, entry) ? groups[entry].flatMap(listed) : [entry])
  return Object.fromEntries(
    Object.entries(table).map(([path, row]) => [path, { ...row, may: row.may.flatMap(listed) }]),
  )
}

/** What is wrong with the import; undefined when it is allowed. */
export function judge(table, file, specifier) {
  const from = rowOf(table, file)
  if (from === undefined) return `"${file}" is in no folder of the import table: add a row to .oxlintrc.json`
  const { may, runsAnywhere = false } = table[from]
  if (runsAnywhere && specifier.startsWith('node:')) {
    return `${from} also runs in browsers, so it may not import "${specifier}": pass in what it needs, or move the code to packages/kit`
  }
  const target = targetOf(file, specifier)
  if (target === undefined) return undefined
  const to = rowOf(table, target)
  if (to === undefined) return `"${target}" is in no folder of the import table: add a row to .oxlintrc.json`
  if (to === from || may.some((entry) => covers(entry, to))) return undefined
  return remedy(table, from, to)
}

/** `a/b` covers the row a/b and all below it. `a/b/*` covers the folders in a/b, but not files that have a row. */
function covers(entry, row) {
  if (!entry.endsWith('/*')) return row === entry || row.startsWith(`${entry}/`)
  return row.startsWith(entry.slice(0, -1)) && !row.endsWith('.ts')
}

function remedy(table, from, to) {
  const sentence = (row) => `${row} is for: ${table[row].is}`
  const isAbove = table[to].may.some((entry) => covers(entry, from))
  const advice = isAbove
    ? `${to} stands above ${from} and imports it. Move this code up into ${to}, or declare an interface here and let a module.ts pass the object in`
    : `Move what both need into a folder that both may import, or declare an interface here and let a module.ts pass the object in`
  return `${from} may not import ${to}. ${sentence(from)}. ${sentence(to)}. ${advice}`
}

/** Expanded once; all files of a run use it. */
let expanded

const folders = {
  meta: { schema: [{ type: 'object' }] },
  create(context) {
    const [options] = context.options
    const { root = repository } = options
    const table = (expanded ??= expand(options))
    const file = relative(join(root, 'packages'), context.filename)
    // Tests may import everything.
    if (file.startsWith('..') || !/^[^/]+\/src\//.test(file) || file.endsWith('.test.ts')) return {}
    const check = (node) => {
      if (typeof node.source?.value !== 'string') return
      const message = judge(table, file, node.source.value)
      if (message !== undefined) context.report({ node: node.source, message })
    }
    return {
      ImportDeclaration: check,
      ImportExpression: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
    }
  },
}

export default { meta: { name: 'berth' }, rules: { folders } }
