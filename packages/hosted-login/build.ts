// Bundles the page into the files that the server hands out: one script, one style, and the page itself.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { build as esbuild } from 'esbuild'

const source = (name: string) => join(import.meta.dirname, 'src', name)

export async function bundlePage(directory: string): Promise<void> {
  const { outputFiles } = await esbuild({
    entryPoints: [source('app.ts'), source('app.css')],
    outdir: directory,
    write: false,
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: ['chrome100', 'firefox100', 'safari15'],
    minify: true,
    logLevel: 'warning',
  })
  await mkdir(directory, { recursive: true })
  for (const { path, contents } of outputFiles) {
    await writeFile(path, contents)
    await writeFile(`${path}.br`, brotliCompressSync(contents))
  }
  await writeFile(join(directory, 'page.html'), await readFile(source('page.html')))
}

if (import.meta.main) await bundlePage(process.argv[2] ?? join(import.meta.dirname, 'dist'))
