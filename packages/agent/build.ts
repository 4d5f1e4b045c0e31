// Bundles the agent into the one file that is bound into instances.
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync } from 'node:zlib'
import { build } from 'esbuild'

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

/**
 * The BiDi server is ten times the rest and seldom used: it travels inside the one file, compressed,
 * and costs a sleeping instance nothing but that.
 */
export async function bundleAgent(outFile: string): Promise<void> {
  const bidi = await bundle('src/bidi/server.ts')
  const packed = brotliCompressSync(bidi).toString('base64')
  const agent = await bundle('src/main.ts', { PACKED_BIDI_SERVER: JSON.stringify(packed) })
  await mkdir(dirname(outFile), { recursive: true })
  await writeFile(outFile, agent)
}

async function bundle(entry: string, define: Record<string, string> = {}): Promise<Uint8Array> {
  const { outputFiles } = await build({
    entryPoints: [path(entry)],
    write: false,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    define,
    // The contract's constants come with its schemas, which the agent does not use: it checks by hand.
    alias: { typebox: path('src/no-schemas.ts') },
    // The websocket library is CommonJS, and asks for Node's own modules by require().
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire('file:///');" },
    // Stack traces stay readable; comments and blanks would only be parsed once more per instance.
    minifyWhitespace: true,
    legalComments: 'none',
    logLevel: 'warning',
  })
  return outputFiles.at(0)!.contents
}

if (import.meta.main) await bundleAgent(process.argv[2] ?? path('dist/agent.mjs'))
