// The few RFB messages that the agent makes itself; all others pass between viewer and X server.
import { rfbMessages } from './client-messages.ts'
import { rfbEncodings } from './screen-messages.ts'

export interface Region {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** To the X server: send updates of this region without requests. */
export const updatesOf = (region: Region): Buffer => withRegion([rfbMessages.continuousUpdates, 1], region)

/** To the X server: send the whole region, even what was sent before. */
export const wholeOf = (region: Region): Buffer => withRegion([rfbMessages.updateRequest, 0], region)

export interface VideoPicture {
  readonly size: { readonly width: number; readonly height: number }
  readonly bytes: Buffer
}

/** To the viewer: the head of an update with one picture; the picture's bytes follow. */
export function updateOf({ size, bytes }: VideoPicture): Buffer {
  const head = Buffer.alloc(24)
  head.writeUInt16BE(1, 2)
  head.writeUInt16BE(size.width, 8)
  head.writeUInt16BE(size.height, 10)
  head.writeInt32BE(rfbEncodings.h264, 12)
  head.writeUInt32BE(bytes.length, 16)
  return head
}

/** Marks our fences; those of the X server have at most one byte. */
const PAYLOAD = Buffer.from('video')
const BLOCK_BEFORE = 1
const REQUEST = 2 ** 31
const FENCE_HEAD_BYTES = 9

/** To the viewer: answer when you have processed everything before this message. */
export function fence(): Buffer {
  const head = Buffer.alloc(FENCE_HEAD_BYTES)
  head[0] = rfbMessages.fence
  head.writeUInt32BE(REQUEST + BLOCK_BEFORE, 4)
  head[8] = PAYLOAD.length
  return Buffer.concat([head, PAYLOAD])
}

/** Whether a message of the viewer answers one of our fences. */
export const isAnswer = (message: Buffer): boolean => message.subarray(FENCE_HEAD_BYTES).equals(PAYLOAD)

function withRegion(head: readonly [number, number], { x, y, width, height }: Region): Buffer {
  const message = Buffer.alloc(10)
  message.set(head)
  for (const [index, value] of [x, y, width, height].entries()) message.writeUInt16BE(value, 2 + index * 2)
  return message
}
