/** A request of the X protocol: its code, the byte after it, and the rest in words of 32 bits. */
export function xRequest(code: number, detail: number, ...words: number[]): Buffer {
  const request = Buffer.alloc(4 + words.length * 4)
  request[0] = code
  request[1] = detail
  request.writeUInt16LE(request.length / 4, 2)
  for (const [index, word] of words.entries()) request.writeUInt32LE(word >>> 0, 4 + index * 4)
  return request
}

/** The same with bytes at the end, padded to whole words. The length must fit into 16 bits. */
export function xRequestWith(bytes: Uint8Array, code: number, detail: number, ...words: number[]): Buffer {
  const head = xRequest(code, detail, ...words)
  const padding = -bytes.length & 3
  head.writeUInt16LE((head.length + bytes.length + padding) / 4, 2)
  return Buffer.concat([head, bytes, Buffer.alloc(padding)])
}

/** Two values of 16 bits, signed or not, as one word. */
export const halves = (low: number, high: number) => ((high & 0xffff) << 16) | (low & 0xffff)
