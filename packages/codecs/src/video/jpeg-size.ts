const START_OF_IMAGE = 0xffd8
const MARKER = 0xff
/** The markers of frame headers; three markers in this range mean something else. */
const isFrameHeader = (marker: number) =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc

/** Returns undefined if the bytes are not a JPEG. */
export function jpegSize(jpeg: Buffer): { width: number; height: number } | undefined {
  if (jpeg.length < 4 || jpeg.readUInt16BE(0) !== START_OF_IMAGE) return undefined
  let at = 2
  while (at + 9 <= jpeg.length && jpeg[at] === MARKER) {
    if (isFrameHeader(jpeg[at + 1]!)) {
      return { height: jpeg.readUInt16BE(at + 5), width: jpeg.readUInt16BE(at + 7) }
    }
    at += 2 + jpeg.readUInt16BE(at + 2)
  }
  return undefined
}
