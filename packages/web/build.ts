// Builds every page into `dist/<page>`: a script, a style sheet, both also compressed, and the page's template if it
// has one. The server serves these files; it needs nothing else of this package at run time but `replay/page.ts`.
import { existsSync } from 'node:fs'
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { build as esbuild } from 'esbuild'

const src = join(import.meta.dirname, 'src')
const pages = ['live-view', 'hosted-login', 'replay']

export async function buildPages(dist: string): Promise<void> {
  const { outputFiles } = await esbuild({
    entryPoints: pages.flatMap((page) => [join(src, page, 'app.ts'), join(src, page, 'app.css')]),
    outbase: src,
    outdir: dist,
    write: false,
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: ['chrome100', 'firefox100', 'safari15'],
    minify: true,
    legalComments: 'eof',
    logLevel: 'warning',
  })
  // What an older version built must not be served.
  await rm(dist, { recursive: true, force: true })
  for (const { path, contents } of outputFiles) {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, contents)
    await writeFile(`${path}.br`, brotliCompressSync(contents))
  }
  for (const page of pages) {
    const template = join(src, page, 'page.html')
    if (existsSync(template)) await copyFile(template, join(dist, page, 'page.html'))
  }
}

if (import.meta.main) await buildPages(process.argv[2] ?? join(import.meta.dirname, 'dist'))
