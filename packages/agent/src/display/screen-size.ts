// Resizes the screen of a running Xvnc by the one message that RFB has for it, as a viewer would:
// https://github.com/rfbproto/rfbproto/blob/master/rfbproto.rst#setdesktopsize
import { connect, type Socket } from 'node:net'
import { ByteReader } from '@berth/codecs/bytes/byte-reader'
import { RFB_VERSION, rfbMessages, setEncodings } from '@berth/codecs/rfb/client-messages'
import { rfbEncodings } from '@berth/codecs/rfb/screen-messages'
import type { Size } from '../cdp/headless-size.ts'

const NO_SECURITY = 1
const FRAMEBUFFER_UPDATE = 0
const ASKED_BY_US = 1
const ANSWER_TIMEOUT_MS = 5_000

export async function setScreenSize(rfbSocket: string, { width, height }: Size): Promise<void> {
  const socket = connect(rfbSocket)
  const timer = setTimeout(() => socket.destroy(), ANSWER_TIMEOUT_MS)
  try {
    await askForSize(socket, { width, height })
  } finally {
    clearTimeout(timer)
    socket.destroy()
  }
}

async function askForSize(socket: Socket, { width, height }: Size): Promise<void> {
  const reader = new ByteReader(untilClosed(socket), {
    cutOff: () => new Error('Cannot talk to the display: it closed the connection'),
  })
  await reader.read(RFB_VERSION.length)
  socket.write(RFB_VERSION)
  const [types = 0] = await reader.read(1)
  await reader.read(types)
  socket.write(Buffer.from([NO_SECURITY]))
  await reader.read(4)
  const isShared = 1
  socket.write(Buffer.from([isShared]))
  const init = await reader.read(24)
  const bytesPerPixel = init[4]! / 8
  await reader.read(init.readUInt32BE(20))

  const encodings = setEncodings([rfbEncodings.raw, rfbEncodings.desktopSizeByParts])
  // One pixel is enough: the answer comes with an update.
  const updateRequest = Buffer.from([rfbMessages.updateRequest, 1, 0, 0, 0, 0, 0, 1, 0, 1])
  const setSize = Buffer.alloc(24)
  setSize[0] = rfbMessages.setDesktopSize
  setSize.writeUInt16BE(width, 2)
  setSize.writeUInt16BE(height, 4)
  setSize[6] = 1
  setSize.writeUInt16BE(width, 16)
  setSize.writeUInt16BE(height, 18)
  socket.write(Buffer.concat([encodings, updateRequest, setSize]))

  for (;;) {
    const [type] = await reader.read(1)
    if (type !== FRAMEBUFFER_UPDATE) throw new Error(`Cannot resize the screen: message ${type} came back`)
    const count = (await reader.read(3)).readUInt16BE(1)
    for (let index = 0; index < count; index++) {
      const rectangle = await reader.read(12)
      const [x, y, w, h] = [0, 2, 4, 6].map((at) => rectangle.readUInt16BE(at)) as [
        number,
        number,
        number,
        number,
      ]
      if (rectangle.readInt32BE(8) !== rfbEncodings.desktopSizeByParts) {
        await reader.read(w * h * bytesPerPixel)
        continue
      }
      const [screens = 0] = await reader.read(4)
      await reader.read(screens * 16)
      if (x !== ASKED_BY_US) continue
      if (y !== 0) throw new Error(`Cannot resize the screen to ${width}x${height}: it answered ${y}`)
      return
    }
    socket.write(updateRequest)
  }
}

/** Treats a socket error as the end of the stream; the reader then reports that it came too early. */
async function* untilClosed(socket: Socket): AsyncGenerator<Buffer> {
  try {
    yield* socket as AsyncIterable<Buffer>
  } catch {
    // Closed.
  }
}
