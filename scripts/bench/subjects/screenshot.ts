// Checks that a screenshot shows the page: sets a colour and reads it from the picture.
import assert from 'node:assert/strict'
import { inflateSync } from 'node:zlib'
import type { Page } from './page.ts'

const COLOUR = [12, 200, 90] as const
const SIGNATURE_BYTES = 8
/** For PNG colour type 2; type 6 has the same three bytes before alpha. */
const CHANNELS = 3

export async function assertScreenshot(page: Page): Promise<void> {
  await page.evaluate(`document.documentElement.style.background = 'rgb(${COLOUR.join(', ')})'`)
  const { data } = await page.call<{ data: string }>('Page.captureScreenshot', { format: 'png' })
  const { width, height, firstPixel } = readPng(Buffer.from(data, 'base64'))
  assert.ok(width >= 1900 && height >= 800, `the screenshot is ${width}x${height}`)
  assert.deepEqual(firstPixel, COLOUR)
}

/** No filter changes the first pixel, because nothing is before or above it. */
function readPng(png: Buffer): { width: number; height: number; firstPixel: readonly number[] } {
  const packed: Buffer[] = []
  let at = SIGNATURE_BYTES
  while (at < png.length) {
    const length = png.readUInt32BE(at)
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') packed.push(png.subarray(at + 8, at + 8 + length))
    at += length + 12
  }
  const lines = inflateSync(Buffer.concat(packed))
  return {
    width: png.readUInt32BE(16),
    height: png.readUInt32BE(20),
    firstPixel: [...lines.subarray(1, 1 + CHANNELS)],
  }
}
