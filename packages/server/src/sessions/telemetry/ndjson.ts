// The stored events of a session as lines of JSON, all at once: a timeline of 50,000 events would need 500 pages.
import { MAX_EXPORTED_EVENTS } from '@berth/contracts/telemetry'
import { briefly } from './brief.ts'
import { readSegments, type Archive } from './history.ts'
import { findState } from './store.ts'

const CHUNK_CHARACTERS = 128 * 1024

export interface LinesRequest {
  readonly limit?: number
  readonly after?: number
  readonly brief?: boolean
}

export async function* ndjsonOf(
  archive: Archive,
  sessionId: string,
  { limit = MAX_EXPORTED_EVENTS, after = 0, brief = false }: LinesRequest,
): AsyncGenerator<string> {
  const state = await findState(archive.db, sessionId)
  if (!state) return
  const from = Math.max(after, state.lastSeq - limit)
  let text = ''
  for await (const lines of readSegments(archive, sessionId, { order: 'asc', from })) {
    for (const { line } of lines) text += `${brief ? briefly(line) : line}\n`
    if (text.length >= CHUNK_CHARACTERS) {
      yield text
      text = ''
    }
    // Events that came since then belong to the next request.
    if ((lines.at(-1)?.seq ?? 0) >= state.lastSeq) break
  }
  if (text !== '') yield text
}
