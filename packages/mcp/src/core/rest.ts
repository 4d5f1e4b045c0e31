// Where the rest of a text is that does not fit into an answer: a file in its session, which agents read piece by piece.
// There are few names, which are used again, so the files of a long session stay few.
import { randomInt } from 'node:crypto'
import { writeFile } from '@berth/contracts/files'
import { data, words, type Answer } from './answer.ts'
import { characters, cut, MAX_TEXT } from './text.ts'
import type { Context } from './tool.ts'

const DIRECTORY = '/tmp/berth-mcp'
const NAMES = 50
/** More is of no use to a model, and is cut for good. */
const MAX_KEPT = 4 * 1024 * 1024

export interface LongText {
  readonly sessionId: string
  readonly text: string
  /** For the name of the file, such as `stdout`. */
  readonly what: string
  readonly from: string
  readonly maxLength?: number
}

/** The text as data; of a long one its beginning, and where the rest is. */
export async function dataWithRest(
  { api }: Pick<Context, 'api'>,
  { sessionId, text, what, from, maxLength = MAX_TEXT }: LongText,
): Promise<Answer> {
  if (text.length <= maxLength) return [data(text, from)]
  const shown = cut(text, 0, maxLength)
  const path = `${DIRECTORY}/${what}-${randomInt(NAMES)}.txt`
  const kept = cut(text, 0, MAX_KEPT)
  await api.send(writeFile, { params: { id: sessionId }, query: { path } }, Buffer.from(kept))
  const rest = `manage_browser_files, action read, path "${path}", offset ${shown.length}`
  return [
    data(shown, from),
    words(`This is the start of ${characters(text.length)}. The rest for a while: ${rest}.`),
  ]
}
