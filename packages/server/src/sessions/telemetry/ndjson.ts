// The stored events of a session as lines of JSON, all at once: a timeline of 50,000 events would need 500 pages.
import { MAX_EXPORTED_EVENTS, type TelemetryEvent } from '@berth/contracts/telemetry'
import { readSegments, type Archive } from './history.ts'
import { findState } from './store.ts'

const CHUNK_CHARACTERS = 128 * 1024
/** Longer texts are cut in brief events. */
const MAX_BRIEF_TEXT = 300
/** What makes events large, and what says where in the browser they happened. */
const leftOut: ReadonlySet<string> = new Set([
  'args',
  'body',
  'document_url',
  'frame_id',
  'headers',
  'loader_id',
  'nav_seq',
  'png',
  'post_data',
  'stack_trace',
  'target_id',
  'target_type',
])

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

function briefly(line: string): string {
  const { seq, event } = JSON.parse(line) as TelemetryEvent
  return JSON.stringify({ seq, event: event.data ? { ...event, data: briefData(event.data) } : event })
}

function briefData(data: Readonly<Record<string, unknown>>): object {
  const kept: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(data)) {
    if (leftOut.has(name)) continue
    const isLong = typeof value === 'string' && value.length > MAX_BRIEF_TEXT
    kept[name] = isLong ? `${value.slice(0, MAX_BRIEF_TEXT)}…` : value
  }
  return kept
}
