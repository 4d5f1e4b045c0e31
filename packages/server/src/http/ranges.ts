// Range requests for content of known size (RFC 9110, section 14): one byte range, or the whole content.
import { AppError } from '../platform/errors/app-error.ts'

export interface ByteRange {
  readonly start: number
  /** The last byte, inclusive. */
  readonly end: number
}

const UNIT = /^bytes=/i
const RANGE = /^(\d{0,15})-(\d{0,15})$/

/** Undefined means the whole content. Throws `range_not_satisfiable` for a range that is malformed or outside the content. */
export function readRange(header: string | undefined, sizeBytes: number): ByteRange | undefined {
  if (header === undefined || !UNIT.test(header)) return undefined
  const ranges = header.replace(UNIT, '').trim()
  // Several ranges would need a multipart answer; a server may send everything instead.
  if (ranges.includes(',')) return undefined
  const [isRange, first = '', last = ''] = RANGE.exec(ranges) ?? []
  if (isRange === undefined || (first === '' && last === '')) throw notThere(sizeBytes)
  if (first === '') {
    const start = Math.max(0, sizeBytes - Number(last))
    if (start >= sizeBytes) throw notThere(sizeBytes)
    return { start, end: sizeBytes - 1 }
  }
  const start = Number(first)
  const end = last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1)
  if (start >= sizeBytes || end < start) throw notThere(sizeBytes)
  return { start, end }
}

function notThere(sizeBytes: number): AppError {
  return new AppError('range_not_satisfiable', `Cannot give this range: there are ${sizeBytes} bytes`, {
    headers: { 'content-range': `bytes */${sizeBytes}` },
  })
}
