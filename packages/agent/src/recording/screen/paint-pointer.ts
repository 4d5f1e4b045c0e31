// Paints the pointer over a picture in planes, and removes it again, because others use the same picture without it.
import type { Size } from '../../cdp/headless-size.ts'
import { BLACK, BLUE, GREY, LUMA, RED } from '@berth/codecs/yuv/colours'
import type { PointerPicture } from './pointer.ts'

interface Plane {
  readonly bytes: Buffer
  readonly width: number
  readonly height: number
  /** Pixels of the screen per value of the plane, in each direction. */
  readonly scale: 1 | 2
  readonly weights: readonly number[]
  /** The value that stands for no colour. */
  readonly zero: number
}

/** Returns a function that removes the pointer. */
export function paintPointer(planes: Buffer, { width, height }: Size, pointer: PointerPicture): () => void {
  const pixels = width * height
  const quarter = { width: width / 2, height: height / 2, scale: 2, zero: GREY } as const
  const undo = [
    { bytes: planes.subarray(0, pixels), width, height, scale: 1, weights: LUMA, zero: BLACK } as const,
    { bytes: planes.subarray(pixels, pixels + pixels / 4), weights: BLUE, ...quarter },
    { bytes: planes.subarray(pixels + pixels / 4), weights: RED, ...quarter },
  ].map((plane) => paint(plane, pointer))
  return () => undo.forEach((each) => each())
}

function paint(plane: Plane, pointer: PointerPicture): () => void {
  const { bytes, scale } = plane
  const left = Math.max(0, Math.floor(pointer.x / scale))
  const right = Math.min(plane.width, Math.ceil((pointer.x + pointer.width) / scale))
  const top = Math.max(0, Math.floor(pointer.y / scale))
  const bottom = Math.min(plane.height, Math.ceil((pointer.y + pointer.height) / scale))
  const before: { readonly at: number; readonly row: Buffer }[] = []
  for (let y = top; y < bottom; y++) {
    const at = y * plane.width + left
    before.push({ at, row: Buffer.from(bytes.subarray(at, at + right - left)) })
    for (let x = left; x < right; x++) {
      const { opacity, colour } = lookAt(pointer, plane, x, y)
      if (opacity > 0) bytes[at + x - left] = bytes[at + x - left]! * (1 - opacity) + colour
    }
  }
  return () => {
    for (const { at, row } of before) row.copy(bytes, at)
  }
}

/** For one value of the plane: how much of it the pointer covers, and what it adds. */
function lookAt(
  { x: left, y: top, width, height, pixels }: PointerPicture,
  { scale, weights, zero }: Plane,
  x: number,
  y: number,
): { opacity: number; colour: number } {
  let [opacity, weighed] = [0, 0]
  for (let row = y * scale - top; row < (y + 1) * scale - top; row++) {
    for (let column = x * scale - left; column < (x + 1) * scale - left; column++) {
      if (row < 0 || row >= height || column < 0 || column >= width) continue
      const at = (row * width + column) * 4
      opacity += pixels[at + 3]! / 255
      for (let channel = 0; channel < 3; channel++) weighed += weights[channel]! * pixels[at + channel]!
    }
  }
  const count = scale * scale
  return { opacity: opacity / count, colour: (zero * opacity + weighed / 256) / count }
}
