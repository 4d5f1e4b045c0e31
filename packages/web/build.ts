// Builds every page into `dist`, where the server reads them: a folder for each page of the product (script, style sheet,
// template), `dashboard`, and `docs` with the API reference and the guide. `npm run setup` runs it when a source has changed.
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { bundle } from './src/build/bundle.ts'
import { buildDashboard } from './src/build/dashboard.ts'
import { buildDocs } from './src/build/docs.ts'
import { Output } from './src/build/output.ts'

const src = join(import.meta.dirname, 'src')
const pages = ['live-view', 'devtools', 'hosted-login', 'replay']

export async function buildPages(dist: string, { docs }: { docs: string }): Promise<void> {
  // What an older version built must not be served.
  await rm(dist, { recursive: true, force: true })
  const output = new Output(dist)
  const entries = pages.flatMap((page) => [`${page}/app.ts`, `${page}/app.css`])
  for (const [name, contents] of await bundle(src, entries)) await output.write(name, contents)
  for (const page of pages) {
    const template = join(src, page, 'page.html')
    if (existsSync(template)) await output.copy(template, `${page}/page.html`)
  }
  await buildDashboard({ src, output: new Output(join(dist, 'dashboard')) })
  await buildDocs({ src, docs, output: new Output(join(dist, 'docs')) })
}

if (import.meta.main) {
  await buildPages(process.argv[2] ?? join(import.meta.dirname, 'dist'), {
    docs: join(import.meta.dirname, '../../docs'),
  })
}
