// How values are shown: an image as an image, everything else as Node's own console does.
import { inspect } from 'node:util'
import { isUint8Array } from 'node:util/types'
import { MAX_REPL_IMAGE_BYTES, MAX_REPL_TEXT_BYTES } from '@berth/contracts/repl'
import { FRAME } from '../../playwright/conversation.ts'
import { imageType } from '../image-type.ts'

type Send = (kind: number, payload: Buffer | string) => void

const LOOKS = { depth: 4, maxArrayLength: 1_000, maxStringLength: MAX_REPL_TEXT_BYTES }

/** `kind`: the frame for a text. */
export function show(send: Send, kind: number, value: unknown): void {
  if (isUint8Array(value) && imageType(value)) {
    const bytes = Buffer.from(value.buffer, value.byteOffset, value.length)
    return send(FRAME.image, bytes.length > MAX_REPL_IMAGE_BYTES ? '' : bytes)
  }
  // Each is cut alone; the agent cuts them together.
  const text = Buffer.from(textOf(value)).subarray(0, MAX_REPL_TEXT_BYTES + 1)
  send(kind, Buffer.concat([text, Buffer.from('\n')]))
}

/** Of an object of Playwright, such as Page. */
const TYPE = '_type'

function textOf(value: unknown): string {
  if (isOfPlaywright(value)) return `${value[TYPE]} {}`
  return inspect(value, LOOKS)
}

/** A page, a response and the like hold everything else, which nobody wants to read. */
function isOfPlaywright(value: unknown): value is Record<typeof TYPE, string> {
  return typeof value === 'object' && value !== null && '_guid' in value && TYPE in value
}
