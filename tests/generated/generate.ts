// Generates a client from an OpenAPI document: node generate.ts <generator> <document> <folder>
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire, registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [generator, document = '', folder = ''] = process.argv.slice(2)
if (generator === 'hey-api') await heyApi()
else if (generator === 'swagger-typescript-api') await swagger()
else throw new Error(`Unknown generator: ${generator}`)

/** It needs the API of TypeScript 6, which ours no longer has; the other generator brings it. */
async function heyApi(): Promise<void> {
  const other = createRequire(import.meta.resolve('swagger-typescript-api'))
  const typescript = pathToFileURL(other.resolve('typescript')).href
  registerHooks({
    resolve: (name, context, next) =>
      name === 'typescript'
        ? { url: typescript, format: 'commonjs', shortCircuit: true }
        : next(name, context),
  })
  const { createClient } = await import('@hey-api/openapi-ts')
  await createClient({ input: document, output: folder, logs: { level: 'silent' } })
}

async function swagger(): Promise<void> {
  const { generateApi } = await import('swagger-typescript-api')
  await generateApi({ input: document, output: folder, fileName: 'Api.ts', silent: true })
  // The generator turns the checks of its own output off.
  const file = join(folder, 'Api.ts')
  writeFileSync(file, readFileSync(file, 'utf8').replace('// @ts-nocheck\n', ''))
}
