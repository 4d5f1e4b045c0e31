// Writes what is computed from the contract and checked in, so that a change of it shows in review.
// `npm run generate -- --check` writes nothing and fails when a file is not up to date.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openApiDocument } from '@berth/contracts/openapi'
import { operations } from '@berth/contracts/operations'

const root = join(import.meta.dirname, '..')

const files: Record<string, () => string> = {
  'openapi.json': () => `${JSON.stringify(openApiDocument(operations), null, 2)}\n`,
}

function contentOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

const { values: options } = parseArgs({ options: { check: { type: 'boolean' } } })
for (const [name, generate] of Object.entries(files)) {
  const path = join(root, name)
  const wanted = generate()
  if (contentOf(path) === wanted) continue
  if (options.check) {
    console.error(`${name} is not what the contract says; run npm run generate and commit the result`)
    process.exitCode = 1
  } else {
    writeFileSync(path, wanted)
    console.log(`${name} written`)
  }
}
