// Searching the guide of the server that answers: it describes the version that runs.
import { Type } from 'typebox'
import { words } from '../core/answer.ts'
import { cut, MAX_TEXT } from '../core/text.ts'
import { tool, type Args } from '../core/tool.ts'
import type { Api } from '../core/api.ts'

const GUIDE = '/docs/guide'
const MAX_PAGES = 60
const MAX_SECTION = 3_000
const SHOWN = 5

interface Section {
  readonly place: string
  readonly title: string
  readonly text: string
}

/** The guide's own pages have few kinds of markup. */
function textOf(html: string): string {
  return html
    .replaceAll(/<(script|style|nav|svg)\b[\s\S]*?<\/\1>/g, '')
    .replaceAll(/<\/(p|li|pre|h\d|tr|table|ul|ol)>/g, '\n')
    .replaceAll(/<\/t[dh]>/g, ' | ')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .replaceAll(/\n\s*\n+/g, '\n')
    .trim()
}

function sectionsOf(page: string, html: string): Section[] {
  const main = /<main[\s\S]*<\/main>/.exec(html)?.[0] ?? html
  return main.split(/(?=<h[1-3][ >])/).map((part) => {
    const [, id = ''] = /<h[1-3][^>]*\bid="([^"]*)"/.exec(part) ?? []
    const [, heading = page] = /<h[1-3][^>]*>([\s\S]*?)<\/h[1-3]>/.exec(part) ?? []
    return { place: id ? `${page}#${id}` : page, title: textOf(heading), text: textOf(part) }
  })
}

async function guide(api: Api): Promise<Section[]> {
  const start = await api.text(GUIDE)
  const links = [...start.matchAll(/href="(\/docs\/guide\/[\w./-]+)"/g)].map(([, link]) => link!)
  const pages = [...new Set(links)].slice(0, MAX_PAGES)
  const found: Section[] = sectionsOf(GUIDE, start)
  for (const page of pages) found.push(...sectionsOf(page, await api.text(page)))
  return found
}

/** More for words in the title, less for words that are everywhere. */
function score(section: Section, wanted: readonly string[], all: readonly Section[]): number {
  const text = section.text.toLowerCase()
  const title = section.title.toLowerCase()
  return wanted.reduce((sum, word) => {
    const rarity = Math.log(
      1 + all.length / (1 + all.filter((each) => each.text.toLowerCase().includes(word)).length),
    )
    const count = Math.min(5, text.split(word).length - 1)
    return sum + rarity * (count + (title.includes(word) ? 5 : 0))
  }, 0)
}

export const searchDocs = tool({
  name: 'search_docs',
  title: 'Search the guide',
  toolset: 'docs',
  ofProject: false,
  description: 'Finds the parts of the guide of this server that fit a question.',
  input: {
    query: Type.String({ minLength: 1, maxLength: 200, description: 'Words to look for' }),
  },
  needs: [],
  hints: { readOnly: true },
  run: async (args: Args, { api }) => {
    const sections = await guide(api)
    const wanted = [...new Set((args.query as string).toLowerCase().match(/[\p{L}\p{N}_]{2,}/gu) ?? [])]
    const best = sections
      .map((section) => ({ section, points: score(section, wanted, sections) }))
      .filter(({ points }) => points > 0)
      .toSorted((one, other) => other.points - one.points)
      .slice(0, SHOWN)
    if (best.length === 0) return [words('Nothing in the guide fits: try other words.')]
    const parts = best.map(
      ({ section }) => `## ${section.title} (${section.place})\n${cut(section.text, 0, MAX_SECTION)}`,
    )
    return [words(cut(parts.join('\n\n'), 0, MAX_TEXT))]
  },
})
