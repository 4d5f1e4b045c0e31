// For the build: the checks of a file as plain code.
import { pathToFileURL } from 'node:url'
import { Ajv } from 'ajv'
import standalone from 'ajv/dist/standalone/index.js'
import { transform, type Plugin } from 'esbuild'
import { checkOptions } from './compile.ts'

/** Puts generated code in the place of every `*.checks.ts`. */
export const generatedChecks: Plugin = {
  name: 'generated-checks',
  setup(build) {
    build.onLoad({ filter: /\.checks\.ts$/ }, async ({ path }) => {
      // SAFETY: that is what such a file exports, see compile.ts.
      const { checks } = (await import(pathToFileURL(path).href)) as {
        checks: Record<string, { source: object }>
      }
      const sources = Object.entries(checks).map(([name, { source }]) => [name, source] as const)
      // Nobody reads it in a stack trace, and half of it is enough.
      const { code } = await transform(generate(Object.fromEntries(sources)), { minify: true, format: 'esm' })
      return { contents: code, loader: 'js' }
    })
  },
}

export function generate(schemas: Readonly<Record<string, object>>): string {
  const names = Object.keys(schemas)
  const ajv = new Ajv({
    ...checkOptions,
    code: { source: true, esm: true },
    schemas: names.map((name) => ({ ...schemas[name], $id: name })),
  })
  const code = standalone.default(ajv, Object.fromEntries(names.map((name) => [name, name])))
  return `${code}\nexport const checks = { ${names.join(', ')} }`
}
