// Converts H.264 from the encoder's format, where a unit begins with its length (ISO/IEC 14496-15), to the format of RFB,
// where it begins with a mark (14496-10, annex B).

const MARK = Buffer.from([0, 0, 0, 1])
const SETUP_HEAD_BYTES = 5
const COUNT_MASK = 0x1f

/** Works in place, because mark and length have the same size. */
export function markUnits(picture: Buffer): Buffer {
  for (let at = 0; at + MARK.length <= picture.length;) {
    const length = picture.readUInt32BE(at)
    MARK.copy(picture, at)
    at += MARK.length + length
  }
  return picture
}

/** The parameter sets in an AVCDecoderConfigurationRecord, which a decoder needs first. */
export function setupUnits(record: Buffer): Buffer {
  const units: Buffer[] = []
  let at = SETUP_HEAD_BYTES
  // Sequence parameter sets, then picture parameter sets. Only the first count shares its byte with other bits.
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
