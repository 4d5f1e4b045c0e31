// Bundles the command line: the start in one file, and each part that is loaded when it is used in another.
import { rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'
import { operationTable } from './src/api/operation-table.ts'

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

/** The table as data, instead of the contract that it is made from. */
const tableAsData: Plugin = {
  name: 'table-as-data',
  setup(building) {
    building.onLoad({ filter: /\/src\/api\/operation-table\.ts$/ }, () => ({
      contents: `const table = ${JSON.stringify(operationTable())}\nexport const operationTable = () => table`,
      loader: 'js',
    }))
  },
}

export async function bundleCli(outDirectory: string): Promise<void> {
  await rm(outDirectory, { recursive: true, force: true })
  await build({
    entryPoints: { main: path('src/main.ts') },
    outdir: outDirectory,
    outExtension: { '.js': '.mjs' },
    chunkNames: 'parts/[name]-[hash]',
    bundle: true,
    splitting: true,
    platform: 'node',
    target: 'node22',
    format: 'esm',
    minifyWhitespace: true,
    plugins: [tableAsData],
    // Optional native parts of the websocket library.
    external: ['bufferutil', 'utf-8-validate'],
    // Some packages are CommonJS, and ask for Node's own modules by require().
    banner: {
      js: "import { createRequire as createRequireOfBundle } from 'node:module'; const require = createRequireOfBundle(import.meta.url);",
    },
    legalComments: 'linked',
    logLevel: 'warning',
  })
}

if (import.meta.main) await bundleCli(path('dist'))
