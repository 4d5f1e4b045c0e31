// File names are bytes, and need not be UTF-8. Code that walks directories holds paths as Latin-1 strings,
// where each byte is one character and none is lost.

/** For calls to the file system. */
export function bytesOf(bytePath: string): Buffer {
  return Buffer.from(bytePath, 'latin1')
}

export function toBytePath(path: string): string {
  return Buffer.from(path).toString('latin1')
}

/** For people and the API. */
export function toText(bytePath: string): string {
  return Buffer.from(bytePath, 'latin1').toString()
}
