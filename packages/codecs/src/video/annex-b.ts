// H.264 as RFB has it, in which a unit begins with a mark (ISO/IEC 14496-10, annex B), of what the encoder gives,
// in which it begins with its length (14496-15).

const MARK = Buffer.from([0, 0, 0, 1])
const SETUP_HEAD_BYTES = 5
const COUNT_MASK = 0x1f

/** In its place: mark and length are of the same size. */
export function markUnits(picture: Buffer): Buffer {
  for (let at = 0; at + MARK.length <= picture.length;) {
    const length = picture.readUInt32BE(at)
    MARK.copy(picture, at)
    at += MARK.length + length
  }
  return picture
}

/** What a decoder has to know first, of an AVCDecoderConfigurationRecord. */
export function setupUnits(record: Buffer): Buffer {
  const units: Buffer[] = []
  let at = SETUP_HEAD_BYTES
  // Sequence parameter sets, then picture parameter sets; the number of the latter has no other bits beside it.
  for (const mask of [COUNT_MASK, 0xff]) {
    const count = (record[at++] ?? 0) & mask
    for (let index = 0; index < count && at + 2 <= record.length; index++) {
      const end = at + 2 + record.readUInt16BE(at)
      units.push(MARK, record.subarray(at + 2, end))
      at = end
    }
  }
  return Buffer.concat(units)
}
