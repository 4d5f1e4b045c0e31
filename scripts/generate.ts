// Writes the generated files. They are checked in, so that their changes show in review.
// `npm run generate -- --check` writes nothing and fails when a file is not up to date.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openApiDocument } from '@berth/contracts/openapi'
import { operations } from '@berth/contracts/operations'
import { assembled } from './lib/assembly.ts'
import { BILL_OF_MATERIALS, billOfMaterials } from './lib/bill-of-materials.ts'
import { DATABASE_TYPES, databaseTypes } from './lib/database-types.ts'
import { SECCOMP_PROFILES, seccompProfile } from './lib/seccomp-profile.ts'

const root = join(import.meta.dirname, '..')

const { values: options } = parseArgs({ options: { check: { type: 'boolean', default: false } } })

/** Returns the new content, given the current one; undefined: it is out of date, and a check does not generate it. */
type Generate = (current: string | undefined) => string | undefined | Promise<string | undefined>
const files: Record<string, Generate> = {
  'openapi.json': () => `${JSON.stringify(openApiDocument(operations), null, 2)}\n`,
  [BILL_OF_MATERIALS]: () => billOfMaterials(root),
  ...Object.fromEntries(SECCOMP_PROFILES.map((path) => [path, seccompProfile])),
  [DATABASE_TYPES]: (current) => databaseTypes(current, { isCheck: options.check }),
  ...Object.fromEntries(
    [
      { name: 'ROWS_WASM', source: 'packages/codecs/src/png/rows.as' },
      { name: 'PLANES_WASM', source: 'packages/codecs/src/yuv/planes.as' },
    ].map(({ name, source }) => [
      source.replace('.as', '-wasm.ts'),
      (current: string | undefined) =>
        assembled(join(root, source), { name, current, isCheck: options.check }),
    ]),
  ),
}

function contentOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

for (const [name, generate] of Object.entries(files)) {
  const path = join(root, name)
  const current = contentOf(path)
  const wanted = await generate(current)
  if (wanted === current) continue
  if (options.check || wanted === undefined) {
    console.error(`${name} is not up to date; run npm run generate and commit the result`)
    process.exitCode = 1
  } else {
    writeFileSync(path, wanted)
    console.log(`${name} written`)
  }
}
