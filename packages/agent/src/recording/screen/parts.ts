// Chooses the parts of the screen to fetch for the parts that changed.
import type { Size } from '../../cdp/headless-size.ts'
import { STRIDE, type Part } from '@berth/codecs/yuv/converter'

/** Each part is one request. If there are more parts, their bounding box is fetched instead. */
const MAX_PARTS = 12

/** Returns few parts with even numbers, wide enough to convert, and within the picture. */
export function toFetch(changed: readonly Part[], size: Size): Part[] {
  const parts = changed.flatMap((part) => toWhole(part, size) ?? [])
  if (parts.length <= 1) return parts
  const around = bounds(parts)
  const area = parts.reduce((sum, part) => sum + part.width * part.height, 0)
  return parts.length > MAX_PARTS || area * 1.5 > around.width * around.height ? [around] : parts
}

/** Splits a part into bands of at most that many bytes. */
export function bands({ x, y, width, height }: Part, maxBytes: number): Part[] {
  const rows = Math.max(2, Math.floor(maxBytes / (width * 4)) & ~1)
  const pieces: Part[] = []
  for (let top = 0; top < height; top += rows) {
    pieces.push({ x, y: y + top, width, height: Math.min(rows, height - top) })
  }
  return pieces
}

function toWhole({ x, y, width, height }: Part, size: Size): Part | undefined {
  let left = Math.max(0, x) & ~1
  let right = Math.min(size.width, (x + width + 1) & ~1)
  const top = Math.max(0, y) & ~1
  const bottom = Math.min(size.height, (y + height + 1) & ~1)
  if (right <= left || bottom <= top) return undefined
  if (right - left < STRIDE) right = Math.min(size.width, left + STRIDE)
  if (right - left < STRIDE) left = right - STRIDE
  return { x: left, y: top, width: right - left, height: bottom - top }
}

function bounds(parts: readonly Part[]): Part {
  const left = Math.min(...parts.map(({ x }) => x))
  const top = Math.min(...parts.map(({ y }) => y))
  const right = Math.max(...parts.map(({ x, width }) => x + width))
  const bottom = Math.max(...parts.map(({ y, height }) => y + height))
  return { x: left, y: top, width: right - left, height: bottom - top }
}
