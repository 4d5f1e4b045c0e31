// Stored events without their large parts. The large parts are not parsed: 50,000 events have some 50 MB of them.
import { membersOf, startOfValue } from '@berth/codecs/json/members'

/** Longer texts are cut. */
const MAX_TEXT = 300
const QUOTES = 2
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

/** A stored line, which JSON.stringify wrote. */
export function briefly(line: string): string {
  const eventAt = startOfValue(line, 0, 'event')
  const dataAt = eventAt === undefined ? undefined : startOfValue(line, eventAt, 'data')
  if (dataAt === undefined) return line
  const { members, end } = membersOf(line, dataAt)
  let text = ''
  for (const { name, start, valueStart, end: valueEnd } of members) {
    if (leftOut.has(name)) continue
    if (text !== '') text += ','
    const mayBeLong = valueEnd - valueStart > MAX_TEXT + QUOTES && line[valueStart] === '"'
    text += mayBeLong
      ? line.slice(start, valueStart) + cut(line.slice(valueStart, valueEnd))
      : line.slice(start, valueEnd)
  }
  return `${line.slice(0, dataAt)}{${text}}${line.slice(end)}`
}

/** With escapes, a text is shorter than it is written. */
function cut(written: string): string {
  const text = JSON.parse(written) as string
  return text.length > MAX_TEXT ? JSON.stringify(`${text.slice(0, MAX_TEXT)}…`) : written
}
