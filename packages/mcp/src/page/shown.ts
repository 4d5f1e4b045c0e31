// What a page tool tells about where it ended up. Address and title are texts of the page.
import { data, type Answer } from '../core/answer.ts'
import { dataWithRest } from '../core/rest.ts'
import { maskTyped } from '../core/secrets.ts'
import { characters, cut, MAX_TEXT, visible } from '../core/text.ts'
import type { Context } from '../core/tool.ts'
import { takeSnapshot, type Acted, type Snapshot, type Where } from './code.ts'
import { inSession } from './in-session.ts'
import { searchSnapshot } from './snapshot.ts'

const MAX_TITLE = 300
const MAX_URL = 1_000
/** Of tabs and downloads of one act. */
const MAX_SHOWN = 10
/** What leaves a session of one snapshot; a larger page is read by its parts. */
const MAX_SNAPSHOT = 2 * 1024 * 1024

const line = (text: string, most: number) => cut(visible(text).replaceAll(/\s+/g, ' '), 0, most)

export function whereLines({ url, title }: Where, { secrets }: Pick<Context, 'secrets'>): string[] {
  return [
    `Page URL: ${secrets.mask(line(url, MAX_URL))}`,
    `Page title: ${secrets.mask(line(title, MAX_TITLE))}`,
  ]
}

export function actedLines(acted: Acted, context: Pick<Context, 'secrets'>): string[] {
  const { status, newTabs, downloads, selected } = acted
  return [
    ...whereLines(acted, context),
    ...(status === null ? [] : [`HTTP status: ${status}`]),
    ...(selected === null ? [] : [`Selected: ${cut(visible(selected.join(', ')), 0, MAX_URL)}`]),
    ...newTabs
      .slice(0, MAX_SHOWN)
      .map((url) => `Opened a new tab: ${context.secrets.mask(cut(visible(url), 0, MAX_URL))}`),
    ...downloads
      .slice(0, MAX_SHOWN)
      .map(({ name, path, failure }) =>
        path === null
          ? `Download of "${visible(name)}" failed: ${visible(failure ?? '')}`
          : `Downloaded to ${visible(path)} (read it with manage_browser_files)`,
      ),
  ]
}

export interface SnapshotOptions {
  readonly sessionId: string
  readonly executor: string | undefined
  readonly ref?: string | undefined
  readonly depth?: number | undefined
  readonly search?: string | undefined
  readonly maxLength?: number | undefined
  readonly seconds?: number | undefined
}

export async function snapshotAnswer(context: Context, options: SnapshotOptions): Promise<Answer> {
  const { sessionId, executor, ref, depth, search, maxLength = MAX_TEXT, seconds = 30 } = options
  const taken = await inSession(context, {
    sessionId,
    executor,
    code: takeSnapshot,
    args: { ref: ref ?? null, depth: depth ?? null, maxLength: MAX_SNAPSHOT, timeoutMs: seconds * 1000 },
    seconds: seconds + 5,
  })
  const whole = context.secrets.mask(visible(maskTyped(taken.snapshot, taken.typed)))
  const head = whereLines(taken, context)
  if (search !== undefined) return [found(taken, { whole, search, maxLength, head })]
  const text = [...head, 'Snapshot:', whole].join('\n')
  const answer = await dataWithRest(context, {
    sessionId,
    text,
    what: 'snapshot',
    from: 'a web page',
    maxLength,
  })
  if (answer.length === 1) return answer
  const hint =
    'Often better: browser_snapshot with "search", with "ref" for one part, or with a smaller "depth".'
  return [...answer, { type: 'text', text: hint }]
}

function found(
  { length }: Snapshot,
  { whole, search, maxLength, head }: { whole: string; search: string; maxLength: number; head: string[] },
) {
  const { text, matches, shown } = searchSnapshot(whole, search, maxLength)
  const count =
    matches === 0
      ? `Nothing matches; the whole snapshot has ${characters(length)}`
      : `${matches} lines match${shown < matches ? `, the first ${shown} are shown: search for more words, or use "ref"` : ''}`
  return data([...head, `${count}.`, text].join('\n'))
}
