import { join, relative } from 'node:path'
import { build } from 'esbuild'

/** Each entry as one file for browsers, by its name below `src`, such as `live-view/app.js`. */
export async function bundle(src: string, entries: readonly string[]): Promise<Map<string, Uint8Array>> {
  const { outputFiles } = await build({
    entryPoints: entries.map((entry) => join(src, entry)),
    outbase: src,
    outdir: src,
    write: false,
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: ['chrome100', 'firefox100', 'safari15'],
    minify: true,
    legalComments: 'eof',
    logLevel: 'warning',
  })
  return new Map(outputFiles.map(({ path, contents }) => [relative(src, path), contents]))
}
