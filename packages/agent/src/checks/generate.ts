// For the build: the checks of a file as plain code.
import { pathToFileURL } from 'node:url'
import { Ajv } from 'ajv'
import standalone from 'ajv/dist/standalone/index.js'
import { transform, type Plugin } from 'esbuild'
import { optionsFor, type CheckSource } from './compile.ts'

/** Puts generated code in the place of every `*.checks.ts`. */
export const generatedChecks: Plugin = {
  name: 'generated-checks',
  setup(build) {
    build.onLoad({ filter: /\.checks\.ts$/ }, async ({ path }) => {
      // SAFETY: that is what such a file exports, see compile.ts.
      const { checks } = (await import(pathToFileURL(path).href)) as {
        checks: Record<string, { source: CheckSource }>
      }
      // Minified: the code is half as long, and nobody reads it in a stack trace.
      const { code } = await transform(generate(checks), { minify: true, format: 'esm' })
      return { contents: code, loader: 'js' }
    })
  },
}

export function generate(checks: Readonly<Record<string, { readonly source: CheckSource }>>): string {
  const names = Object.keys(checks)
  const ajv = new Ajv({
    ...optionsFor[checks[names[0]!]!.source.lengths],
    code: { source: true, esm: true },
    schemas: names.map((name) => ({ ...withoutNotes(checks[name]!.source.schema), $id: name })),
  })
  const code = standalone.default(ajv, Object.fromEntries(names.map((name) => [name, name])))
  return `${code.replaceAll(COUNT_CHARACTERS_IMPORT, COUNT_CHARACTERS)}\nexport const checks = { ${names.join(', ')} }`
}

const NOTES = new Set(['title', 'description', 'examples', 'default'])
/** In these, a key is the name of a field and not a keyword. */
const FIELDS = new Set(['properties', 'patternProperties'])

/** Without what only people read: the generated code holds whole schemas. */
function withoutNotes(schema: object): object {
  const kept = Object.entries(schema).filter(([keyword]) => !NOTES.has(keyword))
  return Object.fromEntries(
    kept.map(([keyword, value]) => [keyword, FIELDS.has(keyword) ? eachField(value as object) : each(value)]),
  )
}

const eachField = (fields: object) =>
  Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, each(schema)]))

const each = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? withoutNotes(value) : value

/** Ajv loads this function from its own package, which is not in an instance. */
const COUNT_CHARACTERS_IMPORT = 'require("ajv/dist/runtime/ucs2length").default'
/** The same function. A string is iterated by characters; a lone surrogate counts as one. */
const COUNT_CHARACTERS = '((text) => { let count = 0; for (const _ of text) count++; return count })'
