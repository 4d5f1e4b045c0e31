// The pointer is not part of the picture that a display returns, so paint-pointer.ts paints it. The display reports when
// it moves (XInput 2) and when its shape changes (XFIXES).
import type { XConnection } from '../../display/x-connection.ts'
import { halves, xRequest } from '@berth/codecs/x11/request'
import type { Part } from '@berth/codecs/yuv/converter'

const FIXES_SELECT_CURSOR_INPUT = 3
const FIXES_GET_CURSOR_IMAGE = 4
const DISPLAY_CURSOR_NOTIFY = 1
/** Offset from the first event of the extension. */
const CURSOR_NOTIFY = 1
const XI_SELECT_EVENTS = 46
const XI_QUERY_VERSION = 47
const XI_RAW_MOTION = 17
const ALL_MASTER_DEVICES = 1
const GENERIC_EVENT = 35
const REPLY_HEAD_BYTES = 32

/** Position and image. The colours are premultiplied by the opacity, in the order blue, green, red, opacity. */
export interface PointerPicture extends Part {
  readonly pixels: Buffer
}

export class Pointer {
  readonly #x: XConnection
  readonly #fixes: number

  private constructor(x: XConnection, fixes: number) {
    this.#x = x
    this.#fixes = fixes
  }

  static async open(x: XConnection, onChange: () => void): Promise<Pointer> {
    const [fixes, input] = await Promise.all([x.extension('XFIXES'), x.extension('XInputExtension')])
    await x.ask(xRequest(input.opcode, XI_QUERY_VERSION, halves(2, 2)))
    const rawMotion = 1 << XI_RAW_MOTION
    x.post(xRequest(input.opcode, XI_SELECT_EVENTS, x.root, 1, halves(ALL_MASTER_DEVICES, 1), rawMotion))
    x.post(xRequest(fixes.opcode, FIXES_SELECT_CURSOR_INPUT, x.root, DISPLAY_CURSOR_NOTIFY))
    x.on(GENERIC_EVENT, (bytes) => {
      if (bytes[1] === input.opcode && bytes.readUInt16LE(8) === XI_RAW_MOTION) onChange()
    })
    x.on(fixes.firstEvent + CURSOR_NOTIFY, onChange)
    await x.sync()
    return new Pointer(x, fixes.opcode)
  }

  async look(): Promise<PointerPicture> {
    const reply = await this.#x.ask(xRequest(this.#fixes, FIXES_GET_CURSOR_IMAGE))
    const [width, height] = [reply.readUInt16LE(12), reply.readUInt16LE(14)]
    return {
      x: reply.readInt16LE(8) - reply.readUInt16LE(16),
      y: reply.readInt16LE(10) - reply.readUInt16LE(18),
      width,
      height,
      pixels: reply.subarray(REPLY_HEAD_BYTES, REPLY_HEAD_BYTES + width * height * 4),
    }
  }
}
