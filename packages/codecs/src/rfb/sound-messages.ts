// Sound between the messages of a screen. A viewer asks for it by QEMU's message for that, and gets it as a rectangle of an
// encoding of ours, which every client of ours reads like a picture of no size.
import { rfbMessages } from './client-messages.ts'

const SOUND = 1
const ENABLE = 0
export const SOUND_REQUEST_BYTES = 4

/** Samples of 16 bits, little endian, of two channels. Pages of ours have the same number. */
export const SOUND_ENCODING = 0x62536e64

/** From a viewer: whether it wants sound from now on. Undefined for any other message. */
export function wantsSound(message: Buffer): boolean | undefined {
  if (message[0] !== rfbMessages.qemu || message[1] !== SOUND) return undefined
  return message.readUInt16BE(2) === ENABLE
}

export function soundRequest(isWanted: boolean): Buffer {
  const message = Buffer.from([rfbMessages.qemu, SOUND, 0, 0])
  message.writeUInt16BE(isWanted ? ENABLE : ENABLE + 1, 2)
  return message
}

/** To the viewer: an update with one rectangle; the samples follow. */
export function soundHead(bytes: number): Buffer {
  const head = Buffer.alloc(20)
  head.writeUInt16BE(1, 2)
  head.writeInt32BE(SOUND_ENCODING, 12)
  head.writeUInt32BE(bytes, 16)
  return head
}
