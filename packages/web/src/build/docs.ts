// The documentation as the server shows it at /docs: the API reference (Scalar, which reads /openapi.json in the browser),
// and every Markdown file below `docs/` as a page of the guide.
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path/posix'
import { html } from '../shared/html.ts'
import { bundle } from './bundle.ts'
import { renderMarkdown } from './markdown.ts'
import type { Output } from './output.ts'
import { scalarBundle } from './scalar.ts'
import { DOCS_URL, GUIDE_URL, guidePage, referencePage, type GuidePage } from './site.ts'

export interface DocsOptions {
  readonly src: string
  /** The folder with the Markdown; it may be missing. */
  readonly docs: string
  readonly output: Output
}

/** The order of the table of contents. Pages that are not named here follow, by name. */
const order = [
  'quick-start',
  'api',
  'sessions',
  'gpu',
  'controls',
  'downloads',
  'dashboard',
  'cli',
  'mcp',
  'live-view-and-replays',
  'telemetry',
  'profiles',
  'proxies',
  'extensions-and-policies',
  'pools',
  'apps',
  'staying-logged-in',
  'install',
  'kubernetes',
  'operating',
  'security',
  'compatibility',
  'performance',
  'scale',
]

export async function buildDocs({ src, docs, output }: DocsOptions): Promise<void> {
  const bundled = await bundle(src, ['reference/app.ts', 'reference/app.css', 'guide/app.css'])
  const keepFile: KeepFile = async (name, contents) =>
    `${DOCS_URL}/${await output.writeHashed(`files/${name}`, contents)}`
  const asset = (name: string) => keepFile(name.replace('/app', ''), bundled.get(name)!)

  await output.write(
    'index.html',
    referencePage({
      style: await asset('reference/app.css'),
      script: await asset('reference/app.js'),
      scalar: await keepFile('scalar.js', await scalarBundle()),
    }),
  )
  const style = await asset('guide/app.css')
  const pages = await guidePages(docs, keepFile)
  for (const page of [overview(pages), ...pages]) {
    await output.write(`${page.url.slice(DOCS_URL.length + 1)}.html`, guidePage(page, pages, style))
  }
}

type KeepFile = (name: string, contents: Uint8Array) => Promise<string>

async function guidePages(docs: string, keepFile: KeepFile): Promise<GuidePage[]> {
  if (!existsSync(docs)) return []
  const names = (await readdir(docs, { recursive: true })).toSorted()
  const markdown = names.filter((name) => name.endsWith('.md') && name !== 'README.md')
  const pictures = new Map<string, string>()
  for (const name of names.filter((each) => /\.(png|jpe?g|svg|webp)$/.test(each))) {
    pictures.set(name, await keepFile(name.replaceAll('/', '-'), await readFile(join(docs, name))))
  }
  const pages = await Promise.all(
    markdown.map(async (name): Promise<[string, GuidePage]> => {
      const rendered = renderMarkdown(await readFile(join(docs, name), 'utf8'), (href) =>
        addressOf(href, { from: name, markdown, pictures }),
      )
      const isListed = !name.includes('/') || name.endsWith('/README.md')
      return [name, { ...rendered, url: urlOf(name), isListed }]
    }),
  )
  return pages.toSorted(([a], [b]) => rank(a) - rank(b)).map(([, page]) => page)
}

function rank(name: string): number {
  const at = order.indexOf(name.replace(/\.md$/, ''))
  return at === -1 ? order.length : at
}

/** `sessions.md` is at /docs/guide/sessions, `decisions/README.md` at /docs/guide/decisions. */
function urlOf(name: string): string {
  return `${GUIDE_URL}/${name.replace(/(\/README)?\.md$/, '')}`
}

/** A file that the server does not show, such as one of the source, has no address. */
function addressOf(
  href: string,
  { from, markdown, pictures }: { from: string; markdown: string[]; pictures: Map<string, string> },
): string | undefined {
  if (/^(https?:|mailto:|#|\/)/.test(href)) return href
  const [path = '', fragment] = href.split('#')
  const target = normalize(join(dirname(from), path)).replace(/\/$/, '')
  const picture = pictures.get(target)
  if (picture !== undefined) return picture
  const name = [target, `${target}/README.md`].find((each) => markdown.includes(each))
  return name === undefined ? undefined : urlOf(name) + (fragment === undefined ? '' : `#${fragment}`)
}

function overview(pages: readonly GuidePage[]): GuidePage {
  const listed = pages.filter(({ isListed }) => isListed)
  return {
    title: 'Guide',
    url: GUIDE_URL,
    isListed: false,
    headings: [],
    body: html`<h1>Guide</h1>
      <p>
        One page for each task. The <a href="/docs">API reference</a> lists every operation and lets you try
        it on this server.
      </p>
      <ul class="pages">
        ${listed.map(({ title, url }) => html`<li><a href="${url}">${title}</a></li>`)}
      </ul>`,
  }
}
